import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const ROOT = new URL('../../', import.meta.url);

/**
 * Changes files of a package, so that they neither load nor parse twice what is never used here.
 *
 * @param {RegExp} id
 * @param {readonly (readonly [found: string | RegExp, instead: string])[]} changes a string must be in each of the files, a pattern
 *   in some
 */
function changed(id, changes) {
  return {
    name: `lean ${id.source}`,
    transform: {
      filter: { id },
      handler: (code) => {
        let lean = code;
        for (const [found, instead] of changes) {
          if (typeof found === 'string' && !lean.includes(found))
            throw new Error(`Expected ${id.source} to say ${found}`);
          lean = lean.replaceAll(found, instead);
        }
        return { code: lean, map: null };
      },
    },
  };
}

/** @param {RegExp} id of the one file that has another text in the build */
function replaced(id, code) {
  return { name: `instead of ${id.source}`, load: { filter: { id }, handler: () => code } };
}

const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

export const leanPlugins = [
  // Known when it is built: to find and read package.json takes as long as to write the help.
  replaced(/src\/pipeline\/version\.ts$/, `export const packageVersion = () => ${JSON.stringify(version)};`),
  // It starts programs for subcommands of another kind than ours. To load what that takes is a quarter of the time of `hooks --help`.
  changed(/commander\/lib\/command\.js$/, [
    ["const childProcess = require('node:child_process');", ''],
    ['childProcess.spawn(', "process.getBuiltinModule('node:child_process').spawn("],
    ["const process = require('node:process');", ''],
    [
      "const EventEmitter = require('node:events').EventEmitter;",
      "import { EventEmitter } from 'node:events';",
    ],
  ]),
  // As ESM: V8 parses what stands in a CommonJS module's function twice.
  changed(/commander\/lib\/\w+\.js$/, [
    [/^const (\w+) = require\(('node:[^']+')\);/gm, 'const $1 = process.getBuiltinModule($2);'],
    [/^const (\{[^}]+\}) = require\(('[^']+')\);/gm, 'import $1 from $2;'],
    [/^exports\.(\w+) = \1;.*$/gm, 'export { $1 };'],
  ]),
  replaced(
    /commander\/esm\.mjs$/,
    `export { Argument } from './lib/argument.js';
     export { Command } from './lib/command.js';
     export { CommanderError, InvalidArgumentError } from './lib/error.js';
     export { Option } from './lib/option.js';`,
  ),
  // HTTP/2 is never asked for (`allowH2: false`), and to load Node's takes 4 ms. Of its HTTP/1 there is only a default that is never
  // taken (`maxHeaderSize` is given), and a look for its streams, which nothing here sends.
  changed(/undici\/lib\/dispatcher\/client\.js$/, [
    ["const http = require('node:http')", 'const http = { maxHeaderSize: 16384 }'],
    ["require('./client-h2.js')", "() => { throw new Error('HTTP/2 is left out of this build') }"],
  ]),
  changed(/undici\/lib\/core\/util\.js$/, [
    ["const { IncomingMessage } = require('node:http')", 'const IncomingMessage = undefined'],
  ]),
  // Only bytes are sent: nothing takes undici's part of fetch to read a body of another kind.
  changed(/undici\/lib\/dispatcher\/client-h1\.js$/, [
    [
      "require('../web/fetch/body.js').extractBody",
      "() => { throw new Error('Bodies other than bytes are left out of this build') }",
    ],
  ]),
  // It is loaded when one fails.
  changed(/undici\/lib\/(?:core|dispatcher|handler|util)\/[\w-]+\.js$/, [
    [
      /const assert = require\('node:assert'\)/g,
      "const assert = (...args) => { if (!args[0]) process.getBuiltinModule('node:assert')(...args) }",
    ],
  ]),
];

/** undici's parser of HTTP as a file, which is read in a tenth of the time that its base64 takes. */
export const parserFiles = {
  name: 'parser files',
  transform: {
    filter: { id: /undici\/lib\/llhttp\/llhttp(?:_simd)?-wasm\.js$/ },
    handler(code, id) {
      const fileName = `chunks/${basename(id, '.js')}.wasm`;
      const [, base64] = /'([\w+/=]{1000,})'/.exec(code);
      this.emitFile({ type: 'asset', fileName, source: Buffer.from(base64, 'base64') });
      const path = `__dirname + '/${basename(fileName)}'`;
      return {
        code: `module.exports = process.getBuiltinModule('node:fs').readFileSync(${path});`,
        map: null,
      };
    },
  },
};

/** V8 compiles a function in brackets at once. An arrow there it parses twice, and all that stands in it. */
export const eagerModules = {
  name: 'eager modules',
  renderChunk: (code) => ({
    code: code.replaceAll(/^(var \w+ = .*\(\()\((exports(?:, module)?)\) => \{$/gm, '$1function ($2) {'),
    map: null,
  }),
};
