// Writes a man page for each command into the built package, from the help that the built program prints.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = new URL('../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const folder = new URL('dist/man/', root);

const program = await help();
const names = [...program.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name);
mkdirSync(folder, { recursive: true });
write('hooks', program);
await Promise.all(names.map(async (name) => write(`hooks-${name}`, await help(name))));

async function help(...words) {
  const command = [fileURLToPath(new URL('bin/hooks.js', root)), ...words];
  const { stdout } = await promisify(execFile)(process.execPath, [...command, '--help']);
  return stdout;
}

function write(name, text) {
  writeFileSync(new URL(`${name}.1`, folder), manPage(name, text));
}

/** Returns the help as a man page, with a section for each heading. */
function manPage(name, text) {
  const [, usage, summary] = /^Usage: ([^]+?)\n\n([^]+?)\n\n/m.exec(text);
  const body = text.replace(/^Usage: [^]+?\n\n[^]+?\n\n/m, '').trimEnd();
  const lines = [
    `.TH ${name.toUpperCase()} 1 "" "hooks ${version}" "hooks"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary.replaceAll('\n', ' ').replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.nf',
    ...usage.split('\n').map((line) => roff(line.trim())),
    '.fi',
    ...body.split(/\n\n+/).flatMap(sectionLines),
  ];
  return `${lines.join('\n')}\n`;
}

function sectionLines(block) {
  const [first, ...rest] = block.split('\n');
  const heading = /^([A-Z][^:]*):$/.exec(first)?.[1];
  const lines = heading === undefined ? [first, ...rest] : rest;
  const start = heading === undefined ? ['.PP'] : [`.SH ${roff(heading.toUpperCase())}`];
  return [...start, '.nf', ...lines.map(roff), '.fi'];
}

/** Escapes a line for roff: a dot or quote at its start would be a request, and a plain hyphen would become a dash. */
function roff(line) {
  const escaped = line
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(
      /[^ -~]/gu,
      (character) => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
