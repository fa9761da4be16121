/**
 * Calls `clean` if the process ends without running its `finally` blocks: on exit, when its terminal closes, or on Ctrl-\,
 * which child groups do not receive. The process then ends as without a listener. Returns a function that removes the
 * listeners.
 */
export function onSuddenEnd(clean: () => void): () => void {
  const endWith = (signal: NodeJS.Signals): void => {
    clean();
    process.kill(process.pid, signal);
  };
  process.once('exit', clean).once('SIGHUP', endWith).once('SIGQUIT', endWith);
  return () => process.off('exit', clean).off('SIGHUP', endWith).off('SIGQUIT', endWith);
}
