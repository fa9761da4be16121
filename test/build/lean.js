/**
 * Changes one file of a package, so that it does not load what is never used here.
 *
 * @param {RegExp} id
 * @param {readonly (readonly [found: string, instead: string])[]} changes
 */
function changed(id, changes) {
  return {
    name: `lean ${id.source}`,
    transform: {
      filter: { id },
      handler: (code) => {
        let lean = code;
        for (const [found, instead] of changes) {
          if (!lean.includes(found)) throw new Error(`Expected ${id.source} to say ${found}`);
          lean = lean.replaceAll(found, instead);
        }
        return { code: lean, map: null };
      },
    },
  };
}

export const leanPlugins = [
  // It starts programs for subcommands of another kind than ours. To load what that takes is a quarter of the time of `hooks --help`.
  changed(/commander\/lib\/command\.js$/, [
    ["const childProcess = require('node:child_process');", ''],
    ['childProcess.spawn(', "require('node:child_process').spawn("],
  ]),
  // HTTP/2 is never asked for (`allowH2: false`), and to load Node's takes 4 ms.
  changed(/undici\/lib\/dispatcher\/client\.js$/, [
    ["require('./client-h2.js')", "() => { throw new Error('HTTP/2 is left out of this build') }"],
  ]),
];
