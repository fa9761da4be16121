import type { ReceiverMistake } from '../../check/check.ts';

export const KEY_FIX =
  'give the receiver exactly the secret that the sender has, without white space or quotes around it, and do not let it start without one';

export const TEXT_FIX =
  'key the HMAC with the text of the secret: do not decode it from hex or base64, and do not encode it';

export const RAW_BODY_FIX =
  'hash the bytes of the body as received, before any parser: express.raw({ type: "*/*" }), request.get_data(), io.ReadAll(r.Body), request.raw_post, or Buffer.concat of the chunks';

export const EMPTY_BODY_FIX =
  'read the body once, as bytes, and hash it before anything else reads it; if a proxy stands in front, let it pass the body on (nginx: proxy_pass_request_body on)';

/** The mistake of a receiver that has one of the given secrets, but not the first one, which signs the requests. */
export const OLD_SECRET: ReceiverMistake = {
  code: 'old-secret',
  says: 'it does not hold the first of the secrets given here, which signs, but another of them: it has only the old one',
  fix: 'give the receiver the new secret besides the old one and let it accept both, before any sender signs with the new one',
};

export const MILLISECONDS: ReceiverMistake = {
  code: 'timestamp-unit',
  says: 'it reads the timestamp, which is in seconds, as milliseconds, so every message is too old',
  fix: 'compare seconds: Math.floor(Date.now() / 1000), or multiply the timestamp by 1000',
};
