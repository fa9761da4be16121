import { useEffect, useState } from 'preact/hooks';

const NOTICE_MS = 2_500;

/** A few words that go away by themselves. */
export function useNotice(): readonly [notice: string, setNotice: (notice: string) => void] {
  const [notice, setNotice] = useState('');
  useEffect(() => {
    if (notice === '') return undefined;
    const timer = setTimeout(() => setNotice(''), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return [notice, setNotice];
}
