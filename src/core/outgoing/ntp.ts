/** Seconds from 1900, where NTP counts from, to 1970. */
const since1900 = 2_208_988_800;
const length = 48;
const version = 4;
const client = 3;
const unsynchronized = 3;

/** A client's question (RFC 5905 §7.3). It tells nobody the time here: 8 random bytes stand in its place. */
export function ntpQuestion(mark: Uint8Array): Buffer {
  const message = Buffer.alloc(length);
  message[0] = (version << 3) | client;
  message.set(mark, 40);
  return message;
}

type NtpAnswer = {
  /** 4 of a server. */
  mode: number;
  /** 0 where it refuses to say. */
  stratum: number;
  isSynchronized: boolean;
  /** When the question came there, and when the answer went, in Unix milliseconds. */
  receivedAt: number;
  sentAt: number;
};

/** The answer to the question with this mark; null for anything else. */
export function ntpAnswerIn(message: Buffer, mark: Uint8Array): NtpAnswer | null {
  if (message.length < length || !message.subarray(24, 32).equals(mark)) return null;
  const [first = 0, stratum = 0] = message;
  return {
    mode: first & 7,
    stratum,
    isSynchronized: first >> 6 !== unsynchronized && stratum <= 15,
    receivedAt: timeIn(message, 32),
    sentAt: timeIn(message, 40),
  };
}

/** By how many milliseconds the clock there is ahead of this one, by which the question went and the answer came. */
export const ntpOffset = (answer: NtpAnswer, sentAt: number, receivedAt: number): number =>
  (answer.receivedAt - sentAt + (answer.sentAt - receivedAt)) / 2;

/** Seconds and their fraction; below 2^31 they are of the era from 2036 on. */
function timeIn(message: Buffer, at: number): number {
  const seconds = message.readUInt32BE(at);
  const era = seconds < 2 ** 31 ? 2 ** 32 : 0;
  return (seconds + era - since1900) * 1000 + (message.readUInt32BE(at + 4) / 2 ** 32) * 1000;
}
