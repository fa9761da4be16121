import { readFileSync } from 'node:fs';
import { defaultLoaders } from 'cosmiconfig';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/service/metrics.ts';
import { startHooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FOLDER = new URL('../../docs/service/', import.meta.url);

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

function readYaml(name: string): unknown {
  return defaultLoaders['.yaml'](name, read(name));
}

async function knownMetrics(): Promise<ReadonlySet<string>> {
  const metrics = createMetrics({
    lanes: async () => [],
    oldestAt: async () => undefined,
    sources: [],
    webhooks: [{ source: 'web', destination: 'Webhooks', url: 'https://receiver.invalid/' }],
    version: '0',
    now: () => 0,
  });
  const names = [...(await metrics.text()).matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  return new Set(
    names.flatMap(([, name = '', type]) => (type === 'histogram' ? [name, `${name}_bucket`] : [name])),
  );
}

describe('the files for a service', () => {
  it.each(['alerts.yaml', 'grafana.json'])('%s uses existing metrics', async (name) => {
    const asked = [...new Set(read(name).match(/\b(?:hooks|process)_[a-z_]+/g))];
    const known = await knownMetrics();
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((metric) => !known.has(metric))).toEqual([]);
  });

  it('alerts.yaml has an expression and a summary in every rule', () => {
    const { groups } = readYaml('alerts.yaml') as { groups: { rules: object[] }[] };
    const rules = groups.flatMap(({ rules: each }) => each);
    expect(rules.length).toBeGreaterThan(3);
    for (const rule of rules) {
      expect(rule).toMatchObject({ expr: expect.any(String), annotations: { summary: expect.any(String) } });
    }
  });

  it('grafana.json is JSON, with a query in every panel', () => {
    const { panels } = JSON.parse(read('grafana.json')) as { panels: { targets: { expr: string }[] }[] };
    for (const { targets } of panels) expect(targets[0]?.expr).toMatch(/_/);
  });

  it('Containerfile and compose.yaml start serve with valid flags and check its health', async () => {
    const container = read('Containerfile');
    const inContainer = JSON.parse(/^CMD (\[.*\])$/m.exec(container)?.[1] ?? '[]') as string[];
    type Service = Readonly<Record<'hooks' | 'queue', { command: string[]; image?: string }>>;
    const { services } = readYaml('compose.yaml') as { services: Service };
    // The tested server, with the settings that make acknowledged messages survive a power cut.
    expect(services.queue.image).toMatch(/^redis:/);
    expect(services.queue.command.join(' ')).toMatch(/--appendonly yes --appendfsync always .*noeviction/);
    // A store on Redis needs them, and npm does not install optional peers.
    expect(services.hooks.command).toContain('redis://queue:6379/0');
    expect(container).toMatch(/npm install .* "bullmq@>=6\.3 <6\.8" ioredis@6/);
    for (const [name, ...args] of [inContainer, services.hooks.command]) {
      expect([name, args[0]]).toEqual(['hooks', 'serve']);
      const places = args.map((arg) =>
        arg.startsWith('/etc/') ? CONFIG : arg.replace(/^redis:.*$/, 'sqlite:hooks.db'),
      );
      const cwd = temporaryFolder({ 'config.yaml': 'webhooks: [https://receiver.invalid/hook]\n' });
      const env = { HOOKS_WRITE_KEY: 'wk', HOOKS_URL: 'https://receiver.invalid/hook', HOOKS_DATA_DIR: cwd };
      const serve = startHooks([...places, '--port', '0', '-o', 'json'], { cwd, env });
      const { value = '{}' } = await serve.lines.next();
      const { url } = JSON.parse(value) as { url: string };
      const path = /8788(\/\w+)/.exec(container)?.[1] ?? '';
      expect((await fetch(`http://127.0.0.1:${new URL(url).port}${path}`)).status).toBe(200);
      expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    }
  });
});

const CONFIG = 'config.yaml';
