// What the bundle has for chalk's look at the terminal: src/cli/io.ts sets the level itself.
export default { stdout: false, stderr: false };
