import { gzipSync } from 'node:zlib';
import { randomFrom } from '../../random.ts';

/** A person, with a value for each kind of personal data. Each value belongs to this person alone. */
export type Person = Readonly<Record<string, string>>;

const KINDS_OF_DIGITS: Readonly<Record<string, string>> = {
  phone: '+4915########',
  mobile: '+1 (2##) 8##-####',
  card: '',
  ssn: '4##-##-####',
  imei: '35#############',
  bankAccountNumber: '73########',
  medicalRecordNumber: '8#######',
  latitude: '52.#######',
  longitude: '13.#######',
  birthDate: '',
  salary: '6####.##',
  ipv4: '',
  mac: '',
};

/** Makes people from a seed. */
export function people(count: number, seed = 1): readonly Person[] {
  const random = randomFrom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const digits = (pattern: string): string => pattern.replaceAll('#', () => String(below(10)));
  const letters = (length: number): string =>
    Array.from({ length }, () => 'abcdefghijklmnopqrstuvwxyz'[below(26)]).join('');
  const word = (length = 9): string => letters(1).toUpperCase() + letters(length - 1);
  const hex = (length: number): string => Array.from({ length }, () => below(16).toString(16)).join('');
  const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  return Array.from({ length: count }, (_, index): Person => {
    const [firstName, lastName] = [word(), word(10)];
    const email = `${firstName}.${lastName}@${letters(6)}.test`;
    return {
      ...Object.fromEntries(
        Object.entries(KINDS_OF_DIGITS).map(([kind, pattern]) => [kind, digits(pattern)]),
      ),
      email,
      userId: index % 2 === 0 ? email : `u_${digits('######')}`,
      firstName,
      lastName,
      name: `${firstName} ${lastName}`,
      username: letters(11),
      anonymousId: uuid(),
      previousId: `old-${letters(8)}`,
      groupId: `g-${letters(9)}`,
      customerId: `cus_${letters(12)}`,
      deviceId: uuid(),
      advertisingId: uuid().toUpperCase(),
      street: `${below(90) + 10} ${word(12)} Street`,
      city: word(11),
      postalCode: digits('#####-####'),
      ipv4: `84.${below(200) + 20}.${below(200) + 20}.${below(200) + 20}`,
      ipv6: `2a02:${hex(3)}1:${hex(3)}2::${hex(3)}3`,
      mac: hex(12).replaceAll(/..(?!$)/g, '$&:'),
      iban: ibanOf(digits('##################')),
      card: cardOf(digits('455673#########')),
      birthDate: `19${below(40) + 50}-0${below(9) + 1}-1${below(9)}`,
      passport: `C${digits('########')}`,
      driversLicense: `D${digits('##########')}`,
      taxId: digits('9## ### ###'),
      vin: `WVWZZZ${digits('###########')}`,
      licensePlate: `B-${letters(2).toUpperCase()} ${digits('####')}`,
      jwt: `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(`{"sub":"${letters(9)}"}`).toString('base64url')}.${letters(24)}`,
      apiKey: `sk_live_${letters(24)}`,
      password: `${letters(9)}!7`,
      pushToken: letters(40),
      cookie: `sid=${letters(20)}`,
      bearer: letters(26),
      avatar: `https://cdn.${letters(6)}.test/${letters(9)}.png`,
      twitter: `@${letters(9)}`,
      linkedin: `https://linkedin.com/in/${letters(10)}`,
      employer: `${word(9)} GmbH`,
      jobTitle: `Head of ${word(9)}`,
      nationality: word(9),
      religion: word(9),
      insuranceNumber: `A${digits('#########')}`,
    };
  });
}

function cardOf(start: string): string {
  const sum = Array.from(start)
    .toReversed()
    .reduce(
      (total, digit, at) =>
        total +
        ((at % 2 === 0 ? Number(digit) * 2 : Number(digit)) % 10) +
        (at % 2 === 0 && Number(digit) > 4 ? 1 : 0),
      0,
    );
  return `${start}${(10 - (sum % 10)) % 10}`.replaceAll(/.{4}(?!$)/g, '$& ');
}

function ibanOf(account: string): string {
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${account}`;
}

/** A request of a person: its target, headers and body. */
export interface PersonalRequest {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

function messageOf(person: Person): Record<string, unknown> {
  const { userId, anonymousId, previousId, groupId, email, ipv4, ipv6, mac, mobile, latitude, longitude } =
    person;
  const { deviceId, advertisingId, pushToken, jwt, street, city, postalCode, salary, card } = person;
  const page = `https://shop.test/u/${encodeURIComponent(`${userId}`)}?email=${encodeURIComponent(`${email}`)}&uid=${userId}`;
  return {
    type: 'identify',
    messageId: `m-${userId}-1`,
    userId,
    anonymousId,
    previousId,
    groupId,
    traits: {
      ...Object.fromEntries(
        [
          'email phone firstName lastName name username birthDate ssn iban card passport driversLicense taxId vin',
          'licensePlate password avatar twitter linkedin employer jobTitle nationality religion insuranceNumber',
          'imei bankAccountNumber medicalRecordNumber customerId apiKey',
        ]
          .join(' ')
          .split(' ')
          .map((kind) => [kind, person[kind]]),
      ),
      address: { street, city, postalCode, country: 'DE' },
      salary: Number(salary),
      cardNumber: Number(card?.replaceAll(' ', '')),
      contact: { mobile },
    },
    context: {
      ip: ipv4,
      ipv6,
      mac,
      location: { latitude: Number(latitude), longitude: Number(longitude) },
      device: { id: deviceId, advertisingId, token: pushToken },
      page: {
        url: page,
        search: `?email=${encodeURIComponent(`${email}`)}`,
        referrer: page.replace('//', `//${person['username']}:${person['password']}@`),
      },
      accessToken: jwt,
    },
    properties: {
      plan: 'pro',
      note: `${person['name']} <${email}> called from ${mobile}, ${ipv4}; card ${card}, IBAN ${person['iban']}`,
      participants: { [`${email}`]: 1, [`${userId}`]: true },
    },
  };
}

/** Writes the same person in one of several forms. */
export function personalRequest(person: Person, form: number): PersonalRequest {
  const message = messageOf(person);
  const json = JSON.stringify(message);
  const { email, userId, bearer, cookie, ipv4, ipv6, customerId, anonymousId } = person;
  const bodies: readonly (readonly [type: string, body: string])[] = [
    ['application/json', json],
    ['application/json', JSON.stringify({ batch: [message, message], writeKey: person['apiKey'] }, null, 2)],
    ['application/json', JSON.stringify({ Type: 'Notification', Message: json, UserEmail: email })],
    ['application/x-ndjson', `${json}\n${json}\n`],
    [
      'application/x-www-form-urlencoded',
      new URLSearchParams({ payload: json, email: `${email}`, 'user[id]': `${userId}` }).toString(),
    ],
    ['application/json', JSON.stringify({ data: Buffer.from(json).toString('base64'), userId })],
  ];
  const [type = '', text = ''] = bodies[form % bodies.length] ?? [];
  const isPacked = form % 7 === 0;
  const body = isPacked ? gzipSync(text) : Buffer.from(text);
  return {
    url: `/hook/${customerId}?email=${encodeURIComponent(`${email}`)}&token=${bearer}&customer_id=${customerId}`,
    headers: [
      ['Content-Type', type],
      ['Content-Length', String(body.length)],
      ...(isPacked ? [['Content-Encoding', 'gzip'] as const] : []),
      ['Authorization', `Bearer ${bearer}`],
      ['Cookie', `${cookie}`],
      ['X-Forwarded-For', `${ipv4}, ${ipv6}`],
      ['X-Anonymous-Id', `${anonymousId}`],
      ['From', `${email}`],
      ['Referer', `https://shop.test/?u=${encodeURIComponent(`${email}`)}`],
    ],
    body,
  };
}
