import { expect, it } from 'vitest';
import type { DeliveryState } from '../../../../src/queue/delivery.ts';
import { ServerListing } from '../../../../src/stores/server/queue/server-listing.ts';
import type { ServerLanes } from '../../../../src/stores/server/queue/server-lanes.ts';
import { LANE } from '../../../queue/new-delivery.ts';

const ALL: readonly DeliveryState[] = ['pending', 'retrying', 'sending', 'delivered', 'dead'];
/** Number of reads of a lane: of its dead letters, of each state of its other entries, and of delayed entries again. */
const READS = 7;

/** A lane whose only entry gets into the next state of `path` before each of these reads. */
function lanesWith(path: readonly string[], moves: readonly number[]): ServerLanes {
  let read = 0;
  const idsOf = (isArrival: boolean) => async (state: string) => {
    const moved = moves.filter((move) => move <= read).length;
    read += 1;
    return !isArrival && path[moved] === state ? ['d-a'] : [];
  };
  const lanes = {
    all: async () => [LANE],
    series: ({ isArrival = false }) => ({ ids: idsOf(isArrival) }),
  };
  return lanes as unknown as ServerLanes; // all that a listing of ids uses
}

it.each([
  [['waiting', 'active', 'completed']],
  [['waiting', 'active', 'failed']],
  [['waiting', 'active', 'delayed']],
  [['delayed', 'waiting', 'active']],
  [['active', 'delayed', 'delayed']],
])('a listing contains a delivery once, whenever its entry moves: %j', async (path) => {
  for (let first = 0; first <= READS; first++) {
    for (let second = first; second <= READS; second++) {
      const listing = new ServerListing(lanesWith(path, [first, second]));
      expect(await listing.ids(ALL), `${first}, ${second}`).toEqual(['a']);
    }
  }
});
