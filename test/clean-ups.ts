type CleanUp = () => unknown;

/** Module state: a process runs many test files and evaluates this module once (`isolate: false`). */
const afterFile: CleanUp[] = [];
const afterTest: CleanUp[] = [];

/**
 * Runs `cleanUp` at the end of every test file. `afterAll` at the top of a module that several files import is registered
 * for the first of them only.
 */
export function afterEachFile(cleanUp: CleanUp): void {
  afterFile.push(cleanUp);
}

/** Runs `cleanUp` at the end of every test. Not for resources of concurrent tests. */
export function afterEachTest(cleanUp: CleanUp): void {
  afterTest.push(cleanUp);
}

export async function cleanUpAfterFile(): Promise<void> {
  for (const cleanUp of afterFile) await cleanUp();
}

export async function cleanUpAfterTest(): Promise<void> {
  for (const cleanUp of afterTest) await cleanUp();
}
