/** How text messages are measured, split into parts, and shortened. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { composeSms, measureSms } from "../../src/core/text/sms.ts";

describe("a text is measured as networks split it", () => {
  test.each([
    ["an empty text", "", "GSM-7", 0, 1],
    ["one full part", "a".repeat(160), "GSM-7", 160, 1],
    ["one character more", "a".repeat(161), "GSM-7", 161, 2],
    ["two full parts", "a".repeat(306), "GSM-7", 306, 2],
    ["a third part", "a".repeat(307), "GSM-7", 307, 3],
    ["letters of many languages", "ÄÖÜßàéùñøåΔΩ¿¡£¥§\n", "GSM-7", 18, 1],
    ["characters of the extension table", "^{}\\[~]|€", "GSM-7", 18, 1],
    ["a full part of them", "€".repeat(80), "GSM-7", 160, 1],
    ["an escape that would be split", "€".repeat(153), "GSM-7", 306, 3],
    ["an escape behind a full part", `${"a".repeat(152)}€${"a".repeat(151)}`, "GSM-7", 305, 2],
    ["the same with one character more", `${"a".repeat(152)}€${"a".repeat(152)}`, "GSM-7", 306, 3],
    ["a character outside GSM-7", "ç", "UCS-2", 1, 1],
    ["a backtick", "`", "UCS-2", 1, 1],
    ["one full part in UCS-2", "ё".repeat(70), "UCS-2", 70, 1],
    ["one character more in UCS-2", "ё".repeat(71), "UCS-2", 71, 2],
    ["two full parts in UCS-2", "ё".repeat(134), "UCS-2", 134, 2],
    ["a third part in UCS-2", "ё".repeat(135), "UCS-2", 135, 3],
    ["a full part of emojis", "🚨".repeat(35), "UCS-2", 70, 1],
    ["an emoji that would be split", "🚨".repeat(67), "UCS-2", 134, 3],
  ] as const)("%s", (_, text, encoding, units, parts) => {
    expect(measureSms(text)).toEqual({ encoding, units, parts });
  });
});

const url = `https://signalbox.example/a/${"x".repeat(86)}`;
const link = { label: "Ack: ", url };

describe("a message", () => {
  test.each([
    [
      "has title, details and link",
      "Shop is down",
      ": Refused.",
      `Shop is down: Refused.\nAck: ${url}`,
    ],
    [
      "has plain quotes, dashes and spaces, which would make it UCS-2",
      "“Größe” – it’s down…",
      ": 42\u202fms.",
      `"Größe" - it's down...: 42 ms.\nAck: ${url}`,
    ],
    ["composes letters with their accents", "Gro\u0308ße", "", `Größe\nAck: ${url}`],
    [
      "replaces characters of the details that would take the room of the title",
      "Shop is down",
      `: Ошибка, ç ${"a".repeat(100)}`,
      `Shop is down: ??????, c ${"a".repeat(100)}\nAck: ${url}`,
    ],
    [
      "keeps the start of a title in another script, with the bare link",
      "Магазин не работает",
      ": Refused.",
      `Магазин не работ...\n${url}`,
    ],
  ])("%s", (_, title, details, message) => {
    expect(composeSms(title, details, link, 2)).toBe(message);
  });

  test("replaces a title in another script if only one part is allowed", () => {
    expect(composeSms("Магазин", ": Refused.", link, 1)).toBe(`???????: Refused.\nAck: ${url}`);
  });

  test("never exceeds its parts, and never loses its link", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 400 }),
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.string({ unit: fc.constantFrom("a", "€", "é", "ж", "🚨", " "), maxLength: 700 }),
    );
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 10 }), (title, details, maxParts) => {
        const message = composeSms(title, details, link, maxParts);
        expect(message).toEndWith(url);
        expect(message.isWellFormed()).toBe(true);
        expect(measureSms(message).parts).toBeLessThanOrEqual(maxParts);
      }),
    );
  });

  test("keeps a link that alone needs more parts than allowed", () => {
    const long = { label: "Ack: ", url: `https://signalbox.example/${"x".repeat(200)}` };
    expect(composeSms("Shop is down", "", long, 1)).toBe(`Ack: ${long.url}`);
  });
});
