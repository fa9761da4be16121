/**
 * Calls `clean` when the process ends without running its `finally` blocks: it exits, its terminal is gone, or Ctrl-\ was pressed, which
 * only this process gets to know. Then it ends as it would without a listener. Returns what removes the listeners.
 */
export function onSuddenEnd(clean: () => void): () => void {
  const endWith = (signal: NodeJS.Signals): void => {
    clean();
    process.kill(process.pid, signal);
  };
  process.once('exit', clean).once('SIGHUP', endWith).once('SIGQUIT', endWith);
  return () => process.off('exit', clean).off('SIGHUP', endWith).off('SIGQUIT', endWith);
}
