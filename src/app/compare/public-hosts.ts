import { redactUrl } from '../../redact.ts';
import { whyPrivateHost, whyPrivateName } from '../../transport/route/public-address.ts';

/** Returns the hosts of the URLs that are neither this machine nor in a private network. */
export async function publicHosts(urls: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    urls.map(async (each) => {
      const url = new URL(each);
      const reason = whyPrivateHost(url) ?? (await whyPrivateName(url));
      return reason === undefined ? [new URL(redactUrl(each)).host] : [];
    }),
  );
  return [...new Set(found.flat())];
}
