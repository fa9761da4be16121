// Needs curl.
import { expect, it } from 'vitest';
import { startHooks } from '../end-to-end/hooks.ts';
import { inShell } from '../end-to-end/shell.ts';
import { hasTool } from '../external-tool.ts';
import { until } from '../until.ts';

it.skipIf(!hasTool('curl', '--version'))(
  'hooks listen --self-signed suggests a sender that it takes from',
  async () => {
    const listen = startHooks(['listen', '--self-signed', '--port', '0']);
    await until(() => /^Try: .*\n/m.test(listen.stderr()), 'the suggestion');
    const [, command = ''] = /^Try: (.*)$/m.exec(listen.stderr()) ?? [];
    expect((await inShell(command, [])).code).toBe(0);
    const { stdout } = await listen.stop();
    expect(stdout).toMatch(/ POST \/ +.* unchecked +200 /);
  },
);
