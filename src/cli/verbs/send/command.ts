import type { Command } from 'commander';
import { MESSAGE_TYPES, type MessageType } from '../../../message/types.ts';
import type { CommandContext, Define } from '../../command.ts';
import { addMessageFlags, rejectFlagsOfOtherTypes } from '../../flags/message/message-flags.ts';
import { addPreviewFlags } from '../../flags/delivery/preview-flags.ts';
import { sendMessage, type SendOptions } from './run.ts';
import { addWhereToFlags } from '../../flags/delivery/where-to.ts';

const EXAMPLES: Readonly<Record<MessageType | 'send', readonly string[]>> = {
  send: [
    'hooks send track --event Signup --loopback # starts a receiver, too',
    'hooks send identify --user-id u1 -t plan=pro -t age=31 --loopback',
    'hooks send --json @event.json --loopback --secret s3cret',
    'hooks send group --group-id acme --url http://localhost:3000/webhook --curl',
  ],
  page: ['hooks send page --user-id u1 --name Pricing -p path=/pricing'],
  screen: ['hooks send screen --user-id u1 --name Home --context device.model=Pixel'],
  identify: ['hooks send identify --user-id u1 -t plan=pro -t address.city=Paris'],
  track: [
    'hooks send track --event Signup',
    "hooks send track --event 'Order Completed' -p total=27.5 -p coupon==007",
    `hooks send track --event Order --properties '{"items":[{"sku":"A1"}]}'`,
  ],
  alias: ['hooks send alias --previous-id anon-7 --user-id u1'],
  group: ['hooks send group --group-id acme --user-id u1 -t employees=120'],
  delete: ['hooks send delete --user-id u1'],
};

const VALUES = `
key=value      JSON if the value is JSON (true, 12.5, [1]), else text
key:=json      always JSON
key==text      always text: zip==01234
a.b=value      sets b in the object a; write \\. for a dot in a key
@file, @-      the content of a file or of standard input, in place of any JSON

The examples above without a destination send to HOOKS_URL or to the webhooks of
the config. Exit codes: 0 delivered, 1 not delivered, 2 could not run.
`;

/** Defines `hooks send <type>`, and `hooks send --json …`, which reads the type from the message. */
export const defineSend: Define = (command, context) => {
  command
    // Without this option, `send` would parse the flags that it shares with its subcommands.
    .enablePositionalOptions()
    .argument('[type]', `send ${MESSAGE_TYPES.join(', ')}`)
    .usage('<type> [options]\n       hooks send --json <message> [options]');
  defineMessage(command, context);
  for (const type of MESSAGE_TYPES) {
    const article = /^[aeiou]/.test(type) ? 'an' : 'a';
    const sub = command.command(type).summary(`send ${article} ${type} message`);
    // Only the named type gets its flags: defining those of all eight types takes longer than building the message.
    if (context.argv.includes(type)) defineMessage(sub, context, type);
  }
};

function defineMessage(command: Command, { io, exit }: CommandContext, type?: MessageType): void {
  const examples = EXAMPLES[type ?? 'send'].map((line) => `  $ ${line}\n`).join('');
  command.addHelpText('before', `Examples:\n${examples}`).addHelpText('after', VALUES);
  addMessageFlags(command, type);
  addWhereToFlags(command);
  addPreviewFlags(command);
  command.action(async (...words: unknown[]) => {
    const self = words.at(-1) as Command; // commander's last argument
    if (type !== undefined && self.parent !== null) rejectFlagsOfOtherTypes(self.parent, type);
    const named = type ?? (typeof words[0] === 'string' ? words[0] : undefined);
    exit(await sendMessage(named, self.optsWithGlobals<SendOptions>(), io));
  });
}
