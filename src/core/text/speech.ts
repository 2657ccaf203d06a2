/** Prepares texts for synthesized speech, so that times, addresses and identifiers are understood on the phone. */

/** Digits that are read one by one, such as a code. Shorter numbers are read as a number. */
const spelledDigits = 5;

const spokenReplacements: readonly (readonly [RegExp, string])[] = [
  [/https?:\/\/\S+/g, " "],
  [/\b(\d{1,2}):(\d{2})\b/g, "$1 $2"],
  [/&/g, " and "],
  [/%/g, " percent"],
  // A dot inside a name or an address, such as db.example.com or 192.0.2.1.
  [/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu, " dot "],
  [/(?<=[\p{L}\p{N}])[-_/:](?=[\p{L}\p{N}])/gu, " "],
  [/(^|\s)[-\u2013\u2014]+(?=\s|$)/g, "$1"],
  [/[\u201c\u201d\u201e"'`*_#@|<>[\](){}\\^~=\u2022]/gu, " "],
];

/** Returns a text as it is spoken. Line breaks end a sentence. */
export function toSpeech(text: string): string {
  const lines = text.split(/\n+/).map((line) => {
    const spokenLine = spokenReplacements.reduce(
      (replaced, [pattern, by]) => replaced.replace(pattern, by),
      line,
    );
    return spokenLine
      .replace(/\d+/g, (digits) =>
        digits.length < spelledDigits ? digits : Array.from(digits).join(" "),
      )
      .replace(/\s+/g, " ")
      .replace(/ (?=[.,:;!?])/g, "")
      .trim();
  });
  return lines
    .filter((line) => line !== "")
    .map((line) => (/[.!?:,;]$/.test(line) ? line : `${line}.`))
    .join(" ");
}

/** Cuts a spoken text after a word. */
export function cutSpeech(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1)).replace(/[\s.,:;]+$/, "")}.`;
}
