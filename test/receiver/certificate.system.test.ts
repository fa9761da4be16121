// Needs openssl.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeCertificate } from '../../src/receiver/certificate.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it.skipIf(!hasTool('openssl', 'version'))('openssl accepts a self-signed certificate', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'cert.pem');
  writeFileSync(file, makeCertificate('localhost', Date.now()).cert);
  const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'localhost'];
  expect(execFileSync('openssl', [...args, '-CAfile', file, file]).toString()).toBe(`${file}: OK\n`);
});
