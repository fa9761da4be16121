import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../end-to-end/receiving.ts';

/** Calls of each matcher, right and wrong, in a program that has an `expect`. */
const CALLS = `
declare const receiver: TestReceiver;
expect(receiver).toHaveReceived({ event: 'Signup', properties: { total: 12.5 } });
expect(receiver).not.toHaveReceived('properties.email?');
expect(receiver).toHaveReceivedInOrder(['type=identify', (message) => message.type === 'track']);
expect(receiver).toMatchSchema({ Signup: { required: ['userId'] } });
expect(receiver).toFollowPlan(await loadPlan('plan.json'));
// @ts-expect-error a plan must be loaded
expect(receiver).toFollowPlan('plan.json');
// @ts-expect-error a number selects no message
expect(receiver).toHaveReceived(5);
// @ts-expect-error an order has several messages
expect(receiver).toHaveReceivedInOrder('type=identify');
// @ts-expect-error a schema is an object
expect(receiver).toMatchSchema('userId');
`;

const IMPORT = `import { loadPlan, matchers, type TestReceiver } from 'hooks-cli/testing';\n`;

/** The settings of a project that a bundler builds, and of one that Node runs. */
export const MODULES = ['--module preserve --moduleResolution bundler', '--module nodenext'];

/**
 * Compiles calls of the matchers after `setUp`, with the packages that are installed in `folder`. Returns the errors of the
 * compiler.
 */
export function compileMatchers(folder: string, setUp: string, flags: string): string {
  const cwd = mkdtempSync(join(folder, 'compiled-'));
  try {
    writeFileSync(join(cwd, 'matchers.mts'), IMPORT + setUp + CALLS);
    const args = `--noEmit --strict --skipLibCheck --target es2023 ${flags} matchers.mts`.split(' ');
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd, encoding: 'utf8', timeout: 60_000 });
    return '';
  } catch (error) {
    return (error as { readonly stdout: string }).stdout; // of a command that ends with an error
  } finally {
    rmSync(cwd, { recursive: true });
  }
}
