import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { TargetFailure } from "../../outgoing/failures.ts";
import type { HttpAnswer } from "../../outgoing/http-answer.ts";
import type { CheckKind } from "../check.ts";
import { valueAt } from "../json-path.ts";

/** So much of a body is looked at, counted before and after decompression. */
const maxBytes = 1024 * 1024;
const maxText = "the first 1 MiB of the answer";

type Settings = Parameters<CheckKind<"http">>[0];
type Assertions = Pick<Settings, "keyword" | "keywordAbsent" | "jsonPath" | "jsonEquals">;

/**
 * What a body has to fulfil. It is read as it arrives and never beyond a bound, so an endless stream or
 * a compression bomb costs no more than that; a body cut short is an error of the connection.
 */
export function wantedOf(settings: Assertions) {
  const { keyword, keywordAbsent, jsonPath, jsonEquals } = settings;
  const looks = keyword !== null || keywordAbsent !== null || jsonPath !== null;
  return {
    /** Why the answer is not what was wanted, to follow “but”; null when it is. */
    async flawOf(answer: HttpAnswer): Promise<string | null> {
      if (!looks) {
        await read(answer, null, () => {});
        return null;
      }
      const chunks: Buffer[] = [];
      const complete = await read(answer, decoderOf(answer), (chunk) => void chunks.push(chunk));
      const bytes = Buffer.concat(chunks).subarray(0, maxBytes);
      const text = new TextDecoder(charsetOf(answer)).decode(bytes);
      if (keyword !== null && !text.includes(keyword))
        return complete ? "the keyword is missing" : `${maxText} lack the keyword`;
      if (keywordAbsent !== null && text.includes(keywordAbsent))
        return "it has the keyword that must be absent";
      if (jsonPath === null) return null;
      if (!complete) return "it is longer than the 1 MiB that are read as JSON";
      return flawOfJson(text, jsonPath, jsonEquals);
    },
  };
}

function flawOfJson(
  text: string,
  path: string,
  wanted: string | number | boolean | null,
): string | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  const value = valueAt(json, path);
  if (value === undefined) return `it has nothing at ${path}`;
  return wanted === null || value === wanted ? null : `the value at ${path} is another`;
}

/** Hands over the body, decoded, up to the bound; resolves with whether it came to its end before. */
function read(
  answer: HttpAnswer,
  decoder: Transform | null,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let length = 0;
  const arrived = (chunk: Buffer) => {
    if (length > maxBytes) return;
    take(chunk);
    length += chunk.length;
    if (length <= maxBytes) return;
    decoder?.destroy();
    resolve(false);
  };
  decoder?.on("data", arrived);
  decoder?.on("end", () => resolve(true));
  decoder?.on("error", () =>
    reject(new TargetFailure("The compressed body of the answer is broken.")),
  );
  let encoded = 0;
  answer
    .read((chunk) => {
      if (decoder === null) return arrived(chunk);
      if (encoded > maxBytes || decoder.destroyed) return;
      encoded += chunk.length;
      const isLast = encoded > maxBytes;
      decoder.write(chunk, () => isLast && resolve(false));
    })
    .then(() => (decoder === null || encoded === 0 ? resolve(true) : decoder.end()), reject);
  return promise;
}

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** What undoes the Content-Encoding (RFC 9110 §8.4.1); null where there is none. */
function decoderOf({ headers }: HttpAnswer): Transform | null {
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding === "identity" || coding === "") return null;
  const decoder = decoders.get(coding);
  if (decoder === undefined)
    throw new TargetFailure("The body of the answer has an encoding that nobody asked for.");
  return decoder();
}

function charsetOf({ headers }: HttpAnswer): Bun.Encoding | undefined {
  const charset = /charset="?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1];
  return /^(iso-8859-1|latin1|windows-1252)$/i.test(charset ?? "") ? "windows-1252" : undefined;
}
