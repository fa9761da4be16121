// Loaded before a measured program: at its exit, writes its CPU time (user and system, ms) and memory.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 };
  writeFileSync(process.env.BENCH_USAGE_FILE, JSON.stringify(usage));
});
