import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { receiving, ROOT } from '../end-to-end/receiving.ts';
import { saysTaken } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { Addresses } from './addresses.ts';
import {
  blocksOf,
  commandsOf,
  fileOf,
  isProgram,
  isScript,
  shownCommandsOf,
  textOfPage,
  type Block,
} from './blocks.ts';
import { isShown } from './sample.ts';
import { ShellSession, type Ran } from './shell-session.ts';
import { runnable, shortened } from './skipped.ts';

interface Start {
  readonly session: ShellSession;
  readonly addresses: Addresses;
  readonly home: string;
}

/** Gets ready what the reader of a page has before the first block. */
export type Preparation = (start: Start) => Promise<void>;

interface Following {
  readonly page: string;
  /** The folder at the front of PATH. */
  readonly programs: string;
  readonly prepare?: Preparation | undefined;
}

/** An error at the start of a line. Notes and logs contain the word elsewhere. */
const COMPLAINT = /^(?:error|warning|[^ ]*: (?:not found|command not found)|sh: )/m;
/** A program that runs until the reader stops it. */
const STAYS = /^hooks (?:listen|serve|worker)\b|# .*\bleave it running\b/;
const COMMENT = /\s+# .*$/;

/** Follows a page as its reader does, in a folder like a clone. Returns what went otherwise than the page says. */
export async function follow(following: Following): Promise<string[]> {
  const problems = await followOnce(following);
  return problems.some(saysTaken) ? followOnce(following) : problems;
}

async function followOnce({ page, programs, prepare }: Following): Promise<string[]> {
  const cwd = temporaryFolder({ 'package.json': '{"type":"module"}' });
  await cp(join(ROOT, 'fixtures'), join(cwd, 'fixtures'), { recursive: true });
  for (const [name, target] of [
    ['hooks-cli', ''],
    ['@segment', 'node_modules/@segment'],
  ] as const) {
    await mkdir(join(cwd, 'node_modules'), { recursive: true });
    await symlink(join(ROOT, target), join(cwd, 'node_modules', name));
  }
  const home = temporaryFolder();
  const { url } = await receiving();
  const addresses = await Addresses.of(textOfPage(page), url);
  const session = new ShellSession(cwd, {
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    NO_COLOR: '1',
    // The receiver in place of the public hosts has a private address.
    ...(addresses.hasPublic && { HOOKS_ALLOW_PRIVATE: 'true' }),
  });
  const reading = new Reading(session, addresses);
  try {
    await prepare?.({ session, addresses, home });
    for (const block of blocksOf(page)) await reading.read(block);
    await session.stopAll();
  } catch (error) {
    reading.problems.push(`${page}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await session.stopAll();
  }
  return reading.problems;
}

class Reading {
  readonly problems: string[] = [];
  readonly #session: ShellSession;
  readonly #addresses: Addresses;
  #last: Ran = { code: 0, output: '' };

  constructor(session: ShellSession, addresses: Addresses) {
    this.#session = session;
    this.#addresses = addresses;
  }

  async read(block: Block): Promise<void> {
    const file = fileOf(block);
    if (file !== undefined) await this.#write(file, block.text);
    if (isScript(block)) return; // ci-jobs.system.test.ts runs it in a project
    if (block.language === 'sh') {
      for (const line of commandsOf(block)) await this.#command(block, line);
    } else if (block.language === 'console') {
      for (const { command, output } of shownCommandsOf(block)) {
        await this.#run(this.#addresses.command(command));
        this.#compare(block, command, output);
      }
    } else if (block.language === '') {
      this.#compare(block, 'the command before', block.text);
    } else if (isProgram(block)) {
      await this.#write('program.js', block.text);
      this.#last = await this.#session.run('node program.js');
      this.#expectSuccess(block, 'node program.js');
    }
  }

  async #write(file: string, text: string): Promise<void> {
    const path = join(this.#session.cwd, file);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, this.#addresses.mapped(text));
  }

  async #command(block: Block, line: string): Promise<void> {
    const rest = runnable(line);
    if (rest === '') return;
    const command = await this.#withId(this.#addresses.command(rest.replace(COMMENT, '')));
    if (STAYS.test(rest)) {
      await this.#session.start(command, Addresses.portIn(command));
      return;
    }
    await this.#run(command);
    this.#expectSuccess(block, line);
  }

  async #run(command: string): Promise<void> {
    // `hooks test URL -- COMMAND` starts a receiver at this port itself.
    const port = command.includes(' -- ') ? Addresses.portIn(command) : undefined;
    if (port !== undefined) await this.#session.release(port);
    this.#last = await this.#session.run(shortened(command));
  }

  #expectSuccess(block: Block, line: string): void {
    const { code, output } = this.#last;
    if (code === 0 && !COMPLAINT.test(output)) return;
    this.problems.push(`${where(block)}: ${line}\nexit code ${code}\n${output}`);
  }

  #compare(block: Block, command: string, sample: string): void {
    const { output } = this.#last;
    if (isShown(sample, output)) return;
    this.problems.push(`${where(block)}: ${command}\nexpected:\n${sample}\ngot:\n${output}`);
  }

  /** Replaces ID by that of a dead letter. */
  async #withId(command: string): Promise<string> {
    if (!/\bID\b/.test(command)) return command;
    const { output } = await this.#session.run('hooks queue list --state dead --limit 1 -o json');
    const { id } = JSON.parse(output.split('\n')[0] ?? '') as { id: string }; // as cli.md says
    return command.replaceAll(/\bID\b/g, id);
  }
}

function where({ page, line }: Block): string {
  return `${page}:${line}`;
}
