// Needs systemd-analyze.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('the unit of docs/service is one that systemd takes', () => {
  const unit = new URL('../../docs/service/hooks.service', import.meta.url).pathname;
  expect(execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
});
