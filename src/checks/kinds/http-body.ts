import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { CheckFailure, type CheckKind } from "../check.ts";
import { valueAt } from "../json-path.ts";

/** So much of a body is looked at, counted after decompression. */
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
    async flawOf(answer: IncomingMessage): Promise<string | null> {
      if (!looks) {
        await readThrough(answer);
        return null;
      }
      const { bytes, complete } = await readBytes(answer, decoded(answer));
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

/** Counts what arrives until the end or the bound, and keeps nothing. */
function readThrough(answer: IncomingMessage): Promise<void> {
  return read(answer, answer, () => {}).then(() => {});
}

async function readBytes(answer: IncomingMessage, body: Readable) {
  const chunks: Buffer[] = [];
  const complete = await read(answer, body, (chunk) => chunks.push(chunk));
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), complete };
}

/** Resolves with whether the body came to its end before the bound. */
function read(
  answer: IncomingMessage,
  body: Readable,
  take: (chunk: Buffer) => void,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let length = 0;
  body.on("data", (chunk: Buffer) => {
    take(chunk);
    length += chunk.length;
    if (length < maxBytes) return;
    resolve(false);
    body.destroy();
    answer.destroy();
  });
  body.on("end", () => resolve(true));
  answer.on("error", reject);
  if (body !== answer)
    body.on("error", () =>
      reject(new CheckFailure("The compressed body of the answer is broken.")),
    );
  return promise;
}

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The body without its Content-Encoding (RFC 9110 §8.4.1). */
function decoded(answer: IncomingMessage): Readable {
  const coding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (coding === "identity" || coding === "") return answer;
  const decoder = decoders[coding];
  if (decoder === undefined)
    throw new CheckFailure("The body of the answer has an encoding that nobody asked for.");
  return answer.pipe(decoder());
}

function charsetOf(answer: IncomingMessage): Bun.Encoding | undefined {
  const charset = /charset="?([\w-]+)/i.exec(answer.headers["content-type"] ?? "")?.[1];
  return /^(iso-8859-1|latin1|windows-1252)$/i.test(charset ?? "") ? "windows-1252" : undefined;
}
