import { describe, expect, it } from 'vitest';
import { SharedClock } from '../src/clock.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1);

/** A machine whose wall clock can be set. Each process that starts on it later has its own clock. */
class Machine {
  #elapsed = 0;
  #wall = START;

  start(): SharedClock {
    const bootedAt = this.#elapsed;
    return new SharedClock({ wall: () => this.#wall, elapsed: () => this.#elapsed - bootedAt });
  }

  pass(ms: number): void {
    this.#elapsed += ms;
    this.#wall += ms;
  }

  setWall(byMs: number): void {
    this.#wall += byMs;
  }
}

describe('the clock of data that processes share', () => {
  it('is the wall clock', () => {
    const machine = new Machine();
    const clock = machine.start();
    machine.pass(1_234);
    expect(clock.now()).toBe(START + 1_234);
    expect(clock.skipped(0)).toBe(0);
  });

  it('follows the wall clock when that is set forward, like a process that starts then', () => {
    const machine = new Machine();
    const clock = machine.start();
    machine.pass(1_000);
    machine.setWall(5 * HOUR_MS);
    expect(clock.now()).toBe(machine.start().now());
    machine.pass(1_000);
    expect(clock.now()).toBe(machine.start().now());
  });

  it('measures the time that it skipped since a moment', () => {
    const machine = new Machine();
    const clock = machine.start();
    machine.pass(10);
    machine.setWall(HOUR_MS);
    machine.pass(10);
    const between = clock.now();
    machine.setWall(2 * HOUR_MS);
    machine.pass(10);
    expect(clock.skipped(START)).toBe(3 * HOUR_MS);
    expect(clock.skipped(between)).toBe(2 * HOUR_MS);
    expect(clock.skipped(clock.now() + 1)).toBe(0);
    expect(clock.now() - START - clock.skipped(START)).toBe(30);
  });

  it('continues when the wall clock is set back, until that has caught up', () => {
    const machine = new Machine();
    const clock = machine.start();
    machine.pass(1_000);
    machine.setWall(-5 * HOUR_MS);
    machine.pass(1_000);
    expect(clock.now()).toBe(START + 2_000);
    machine.pass(5 * HOUR_MS);
    expect(clock.now()).toBe(START + 5 * HOUR_MS + 2_000);
    machine.setWall(5 * HOUR_MS + 500);
    expect(clock.now()).toBe(START + 5 * HOUR_MS + 2_500);
    expect(clock.skipped(START)).toBe(500);
  });

  it('moves forward to the time of another process without a skip, and never back', () => {
    const machine = new Machine();
    const clock = machine.start();
    clock.reach(START + HOUR_MS);
    expect(clock.now()).toBe(START + HOUR_MS);
    clock.reach(START);
    machine.pass(1_000);
    expect(clock.now()).toBe(START + HOUR_MS + 1_000);
    expect(clock.skipped(0)).toBe(0);
  });

  it('does not count the time between two readings as a skip', () => {
    const machine = new Machine();
    const clock = machine.start();
    for (let turn = 0; turn < 5; turn++) machine.setWall(10);
    expect(clock.now()).toBe(START);
  });
});
