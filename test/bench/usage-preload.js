// Loaded before a measured program: at its exit, writes the CPU time it took (user and system, ms).
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.BENCH_USAGE_FILE, String((user + system) / 1000));
});
