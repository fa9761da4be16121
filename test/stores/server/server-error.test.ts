import { describe, expect, it } from 'vitest';
import { QueueError } from '../../../src/errors.ts';
import { serverError } from '../../../src/stores/server/server-error.ts';

const PLACE = 'redis://queue.example/0';

describe('serverError', () => {
  it.each([
    "Stream isn't writeable and enableOfflineQueue options is false",
    'Connection is closed.',
    'Command aborted due to connection close',
    'Reached the max retries per request limit (which is 0).',
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'read ECONNRESET',
  ])('recognizes a lost connection by the error of a driver: %s', (said) => {
    const { message, hint } = serverError(new Error(said), PLACE);
    expect(message).toBe(`The queue at ${PLACE} cannot be reached: the connection is lost`);
    expect(hint).toMatch(/continues by itself/);
  });

  it.each([
    ['NOREPLICAS Not enough good replicas to write.', 'has too few replicas that follow it', true],
    ["READONLY You can't write against a read only replica.", 'is read-only: a replica, most likely', true],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'is full', true],
    ['NOAUTH Authentication required.', 'rejects the user or password', false],
  ])('knows whether an error may pass: %s', (said, what, isAway) => {
    expect(serverError(new Error(said), PLACE)).toMatchObject({
      message: `The queue at ${PLACE} ${what}`,
      isAway,
    });
  });

  it('reads errors that refer to each other and to themselves', () => {
    const lost = new Error('Command aborted due to connection close');
    const aborted = Object.assign(new Error('EXECABORT Transaction discarded'), { previousErrors: [lost] });
    Object.assign(lost, { previousErrors: [lost, aborted] });
    expect(serverError(lost, PLACE).message).toMatch(/the connection is lost$/);
    expect(serverError(aborted, PLACE).message).toMatch(/the connection is lost$/);
  });

  it('quotes unknown errors without their URLs', () => {
    const error = serverError(new Error('odd: redis://user:s3cret@queue.example'), PLACE);
    expect(error).toBeInstanceOf(QueueError);
    expect(error.message).toBe(`The queue at ${PLACE} failed: odd: …`);
    expect(String((error.cause as Error).stack)).not.toContain('s3cret');
  });
});
