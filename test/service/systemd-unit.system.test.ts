// Needs systemd-analyze.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('systemd accepts the unit in docs/service', () => {
  const unit = fileURLToPath(new URL('../../docs/service/hooks.service', import.meta.url));
  expect(execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
});
