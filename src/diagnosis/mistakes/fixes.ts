import type { ReceiverMistake } from '../../check/check.ts';

/** The fix for a receiver whose key is not the secret. */
export const KEY_FIX =
  'give the receiver exactly the secret that the sender has, without white space or quotes around it, and do not let it start without one';

/** The fix for a key that is the secret in another encoding. */
export const TEXT_FIX =
  'key the HMAC with the text of the secret: do not decode it from hex or base64, and do not encode it';

/** The fix for a body that is not hashed as it was received. */
export const RAW_BODY_FIX =
  'hash the bytes of the body as received, before any parser: express.raw({ type: "*/*" }), request.get_data(), io.ReadAll(r.Body), request.raw_post, or Buffer.concat of the chunks';

/** The fix for a body that arrives empty, or that is read before it is hashed. */
export const EMPTY_BODY_FIX =
  'read the body once, as bytes, and hash it before anything else reads it; if a proxy stands in front, let it pass the body on (nginx: proxy_pass_request_body on)';

/** The mistake of a receiver that has one of the given secrets, but not the first, which signs. */
export const OLD_SECRET: ReceiverMistake = {
  code: 'old-secret',
  says: 'it does not hold the first of the secrets given here, which signs, but another of them: it has only the old one',
  fix: 'give the receiver the new secret besides the old one and let it accept both, before any sender signs with the new one',
};
