// Needs systemd-analyze.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('the unit of docs/service is one that systemd takes', () => {
  const unit = fileURLToPath(new URL('../../docs/service/hooks.service', import.meta.url));
  expect(execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
});
