/** Measures text messages as networks split them into parts, and shortens them without losing a link. */

/** Characters of the GSM 7-bit default alphabet: 3GPP TS 23.038 §6.2.1. Each takes one septet. */
const basicAlphabet =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
  "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/** Characters of its extension table, §6.2.1.1. Each takes an escape and one septet. */
const extension = "\f^{}\\[~]|€";

const septets = new Map([
  ...Array.from(basicAlphabet, (character) => [character, 1] as const),
  ...Array.from(extension, (character) => [character, 2] as const),
]);

type SmsEncoding = "GSM-7" | "UCS-2";

/** Size of a text message. `units` are septets of GSM-7, or 16-bit units of UCS-2. */
export type SmsSize = { encoding: SmsEncoding; units: number; parts: number };

/** Units of a message with one part, and of each part of a longer one, whose header takes the rest. */
const capacities = {
  "GSM-7": { single: 160, joined: 153 },
  "UCS-2": { single: 70, joined: 67 },
} as const;

/** Measures a message. One character outside GSM-7 makes the whole message UCS-2. */
export function measureSms(text: string): SmsSize {
  const characters = Array.from(text);
  const encoding = characters.every((one) => septets.has(one)) ? "GSM-7" : "UCS-2";
  const widthOf = (one: string) => (encoding === "GSM-7" ? (septets.get(one) ?? 0) : one.length);
  const { single, joined } = capacities[encoding];
  let [units, filled, parts] = [0, 0, 1];
  for (const width of characters.map(widthOf)) {
    units += width;
    filled += width;
    if (filled <= joined) continue;
    // Networks split neither an escape sequence nor a surrogate pair.
    parts++;
    filled = width;
  }
  return { encoding, units, parts: units <= single ? 1 : parts };
}

/** Typographic characters that would make a message UCS-2, with the usual characters instead. */
const plainReplacements: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/\u2026/g, "..."],
  [/[\u00a0\u2002-\u200a\u202f\t]/g, " "],
  [/[\u200b\u2060\ufeff]/g, ""],
];

/** Replaces typographic characters, which change no meaning, and composes letters with their accents. */
const simplifyCharacters = (text: string) =>
  plainReplacements.reduce(
    (replaced, [pattern, by]) => replaced.replace(pattern, by),
    text.normalize("NFC"),
  );

/** Replaces every character outside GSM-7: letters lose their accents, others become a question mark. */
const toGsm = (text: string) =>
  Array.from(text, (one) => {
    if (septets.has(one)) return one;
    const [letter = ""] = one.normalize("NFKD");
    return septets.has(letter) ? letter : "?";
  }).join("");

/** Characters of a title outside GSM-7 that must have room. Otherwise its characters are replaced. */
const minTitle = 8;

type Link = { label: string; url: string };

/** Joins a text and a link, and cuts the end of the text so that both fit into `maxParts`. The link is never cut. */
function fitWithLink(
  text: string,
  link: string,
  maxParts: number,
): { message: string; length: number } {
  const join = (start: string) => (start === "" ? link : `${start}\n${link}`);
  const fits = (start: string) => measureSms(join(start)).parts <= maxParts;
  const characters = Array.from(text);
  if (fits(text)) return { message: join(text), length: characters.length };
  const cut = (length: number) => `${characters.slice(0, length).join("").trimEnd()}...`;
  let [fitting, tooLong] = [0, characters.length];
  while (tooLong - fitting > 1) {
    const middle = (fitting + tooLong) >> 1;
    if (fits(cut(middle))) fitting = middle;
    else tooLong = middle;
  }
  return { message: join(fitting === 0 ? "" : cut(fitting)), length: fitting };
}

/**
 * Joins a title, details and a link to a message of at most `maxParts`. Characters outside GSM-7 halve the room. If the
 * message does not fit, such characters are replaced in the details, and in the title if it would become too short.
 */
export function composeSms(title: string, details: string, { label, url }: Link, maxParts: number) {
  const text = simplifyCharacters(title + details);
  const link = `${label}${url}`;
  const wholeText = fitWithLink(text, link, maxParts);
  if (wholeText.length === Array.from(text).length) return wholeText.message;
  if (measureSms(simplifyCharacters(title)).encoding === "UCS-2") {
    const faithful = fitWithLink(text, url, maxParts);
    if (faithful.length >= Math.min(minTitle, title.length)) return faithful.message;
  }
  return fitWithLink(toGsm(text), link, maxParts).message;
}
