/**
 * Unusual and hostile HTTP responses: framings of any body, charsets of any text, and responses
 * that no client may accept.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { head } from "./answering.ts";

type Framing = (body: Buffer) => Buffer;

const latin = (text: string) => Buffer.from(text, "latin1");
const join = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? latin(part) : part)));

const ok = "HTTP/1.1 200 OK";
const length = (body: Buffer) => `Content-Length: ${body.length}`;
const sized =
  (...fields: string[]): Framing =>
  (body) =>
    join(head(ok, ...fields, length(body)), body);
const coded =
  (coding: string, ...encode: ((body: Buffer) => Buffer)[]): Framing =>
  (body) =>
    sized(`Content-Encoding: ${coding}`)(encode.reduce((bytes, one) => one(bytes), body));
const inChunks = (body: Buffer, size = 7) => {
  const parts: (string | Buffer)[] = [];
  for (let from = 0; from < body.length; from += size) {
    const piece = body.subarray(from, from + size);
    parts.push(`${piece.length.toString(16)}\r\n`, piece, "\r\n");
  }
  return join(...parts, "0\r\n\r\n");
};
const chunked =
  (...fields: string[]): Framing =>
  (body) =>
    join(head(ok, "Transfer-Encoding: chunked", ...fields), inChunks(body));

/** Framings that ordinary clients read, each as the same body with status 200. */
export const framings: Readonly<Record<string, Framing>> = {
  "with its length": sized(),
  "in chunks": chunked(),
  "in chunks, said twice": chunked("Transfer-Encoding: chunked"),
  "until the connection ends": (body) => join(head(ok), body),
  "of HTTP/1.0": (body) => join(head("HTTP/1.0 200 OK"), body),
  "without a reason": (body) => join(head("HTTP/1.1 200", length(body)), body),
  "with a folded field": sized("X-Long: first\r\n second\r\n\tthird"),
  "with a folded Content-Type": sized("Content-Type: text/plain;\r\n charset=utf-8"),
  "with a folded Set-Cookie": sized("Set-Cookie: a=b;\r\n Path=/"),
  "with a fold of blanks": sized("X-Long: first\r\n  \r\n second"),
  "with lines of LF": (body) => join(`${ok}\nA: b\n${length(body)}\n\n`, body),
  "with fields of LF and an empty line of CRLF": (body) =>
    join(`${ok}\r\nA: b\n${length(body)}\n\r\n`, body),
  "with a field of CRLF and an empty line of LF": (body) =>
    join(`${ok}\nA: b\r\n${length(body)}\r\n\n`, body),
  "after 100 and 103": (body) =>
    join(
      head("HTTP/1.1 100 Continue"),
      head("HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload"),
      sized()(body),
    ),
  "with Transfer-Encoding: identity": sized("Transfer-Encoding: identity"),
  "with Transfer-Encoding: identity and no length": (body) =>
    join(head(ok, "Transfer-Encoding: identity"), body),
  "with chunks of identity": (body) =>
    join(head(ok, "Transfer-Encoding: identity, chunked"), inChunks(body)),
  "with an empty element in its transfer codings": (body) =>
    join(head(ok, "Transfer-Encoding: , chunked,"), inChunks(body)),
  "in compressed chunks": (body) =>
    join(head(ok, "Transfer-Encoding: gzip, chunked"), inChunks(gzipSync(body))),
  "compressed until the connection ends": (body) =>
    join(head(ok, "Transfer-Encoding: x-gzip"), gzipSync(body)),
  "coded as content, then for the transfer": (body) =>
    join(
      head(ok, "Content-Encoding: br", "Transfer-Encoding: deflate, chunked"),
      inChunks(deflateSync(brotliCompressSync(body))),
    ),
  "in gzip": coded("gzip", gzipSync),
  "in gzip of two members": (body) =>
    coded("gzip")(join(gzipSync(body.subarray(0, 3)), gzipSync(body.subarray(3)))),
  "in deflate": coded("deflate", deflateSync),
  "in deflate without compression": coded("deflate", (body) => deflateSync(body, { level: 0 })),
  "in bare deflate": coded("deflate", deflateRawSync),
  "in bare deflate without compression": coded("deflate", (body) =>
    deflateRawSync(body, { level: 0 }),
  ),
  "in gzip within gzip": coded("gzip, gzip", gzipSync, gzipSync),
  "in deflate within gzip": coded("deflate, gzip", deflateSync, gzipSync),
  "in bare deflate within br": coded("deflate,br", deflateRawSync, brotliCompressSync),
  "in codings of two fields": (body) =>
    sized("Content-Encoding: gzip", "Content-Encoding: br")(brotliCompressSync(gzipSync(body))),
  "in gzip, after identity": coded("identity, gzip", gzipSync),
  "in gzip, before an empty element": coded("gzip,", gzipSync),
  "in a coding called none": coded("none"),
  "in a coding called utf-8": coded("UTF-8"),
  "in a coding called aws-chunked": coded("aws-chunked"),
};

/** Responses that no client may accept, each with the expected message. */
export const refusedFramings: Readonly<Record<string, [Framing, words: string]>> = {
  "with two lengths": [
    (body) => join(head(ok, length(body), "Content-Length: 1"), body),
    "The answer is not valid HTTP.",
  ],
  "with a field before the first": [
    (body) => join(`${ok}\r\n folded: x\r\n${length(body)}\r\n\r\n`, body),
    "The answer is not valid HTTP.",
  ],
  "with a NUL in a fold": [sized("A: b\r\n c\0d"), "The answer is not valid HTTP."],
  "with a coding over its chunks": [
    (body) => join(head(ok, "Transfer-Encoding: chunked, gzip"), gzipSync(inChunks(body))),
    "The answer is not valid HTTP.",
  ],
  "in a coding that was not requested": [
    coded("zstd"),
    "The body of the answer has an encoding that nobody asked for.",
  ],
  "in an unknown transfer coding": [
    (body) => join(head(ok, "Transfer-Encoding: compress, chunked"), inChunks(body)),
    "The body of the answer has an encoding that nobody asked for.",
  ],
  "in five codings": [
    coded(Array(5).fill("gzip").join(", "), ...Array(5).fill(gzipSync)),
    "The body of the answer is encoded more than 4 times.",
  ],
  "in a coding that it does not have": [
    coded("gzip"),
    "The compressed body of the answer is broken.",
  ],
  "in a coding that it has only once": [
    coded("gzip, gzip", gzipSync),
    "The compressed body of the answer is broken.",
  ],
  "cut within its length": [
    (body) => join(head(ok, `Content-Length: ${body.length + 1}`), body),
    "The connection was closed before the answer was complete.",
  ],
  "cut within its chunks": [
    (body) => chunked()(body).subarray(0, -3),
    "The connection was closed before the answer was complete.",
  ],
};

type Charset = { type: string; bytes: Buffer; text: string };

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const html = (before: string, bytes: Buffer) => join(`${before}<p>`, bytes, "</p>");
const wide = (text: string) => Buffer.from(text, "utf16le");
const wideBig = (text: string) => wide(text).swap16();
const cyrillic = { bytes: hex("ce f8 e8 e1 ea e0"), text: "Ошибка" };

/** Texts in the charsets of the Encoding standard, declared by BOM, Content-Type or the document. */
export const charsets: Readonly<Record<string, Charset>> = {
  "windows-1251": { type: "text/html; charset=windows-1251", ...cyrillic },
  "cp1251, in quotes": { type: 'text/html; CHARSET="cp1251"', ...cyrillic },
  "koi8-r": { type: "text/plain; charset=KOI8-R", bytes: hex("efdbc9c2cbc1"), text: "Ошибка" },
  shift_jis: { type: "text/html; charset=Shift_JIS", bytes: hex("93fa967b"), text: "日本" },
  "euc-jp": { type: "text/html; charset=euc-jp", bytes: hex("c6fccbdc"), text: "日本" },
  "euc-kr": { type: "text/html; charset=euc-kr", bytes: hex("c7d1b1b9"), text: "한국" },
  big5: { type: "text/html; charset=big5", bytes: hex("a440a4a4"), text: "一中" },
  "iso-8859-2": { type: "text/html; charset=iso-8859-2", bytes: hex("b1"), text: "ą" },
  "iso-8859-15": { type: "text/html; charset=iso-8859-15", bytes: hex("a4"), text: "€" },
  "latin1 as a label of windows-1252": {
    type: "text/html; charset=cp1252",
    bytes: hex("80"),
    text: "€",
  },
  "us-ascii": { type: "text/html; charset=us-ascii", bytes: hex("e4"), text: "ä" },
  "utf-16 by its mark": {
    type: "text/plain",
    bytes: join(hex("fffe"), wide("größe")),
    text: "größe",
  },
  "utf-16be by its mark, whatever the type says": {
    type: "text/plain; charset=utf-8",
    bytes: join(hex("feff"), wideBig("plain")),
    text: "plain",
  },
  "utf-16be by its type": {
    type: "text/plain; charset=utf-16be",
    bytes: wideBig("日本"),
    text: "日本",
  },
  "gbk by its meta": {
    type: "text/html",
    bytes: html('<!doctype html><META CHARSET="gbk">', hex("c4e3bac3")),
    text: "你好",
  },
  "windows-1251 by an old meta": {
    type: "text/html",
    bytes: html(
      '<meta http-equiv=content-type content="text/html; charset=windows-1251">',
      cyrillic.bytes,
    ),
    text: cyrillic.text,
  },
  "windows-1251 by a meta after one that speaks of charsets": {
    type: "text/html",
    bytes: html(
      '<meta name="about" content="a > b; charset=koi8-r"><meta/charset=windows-1251/>',
      cyrillic.bytes,
    ),
    text: cyrillic.text,
  },
  "iso-8859-1 by its meta": {
    type: "text/html",
    bytes: html("<meta charset='iso-8859-1'>", latin("größe")),
    text: "größe",
  },
  "no meta in a comment": {
    type: "text/html",
    bytes: html("<!-- <meta charset=windows-1251> -->", Buffer.from("größe")),
    text: "größe",
  },
  "utf-8 where a meta says utf-16": {
    type: "text/html",
    bytes: html("<meta charset=utf-16>", Buffer.from("größe")),
    text: "größe",
  },
  "iso-8859-2 by an XML declaration": {
    type: "application/xml",
    bytes: html('<?xml version="1.0" encoding="ISO-8859-2"?>', hex("b1")),
    text: "ą",
  },
  "the type before the meta": {
    type: "text/html; charset=utf-8",
    bytes: html("<meta charset=windows-1251>", Buffer.from("größe")),
    text: "größe",
  },
  "the meta where the type's label is unknown": {
    type: "text/html; charset=x-none",
    bytes: html("<meta charset=windows-1251>", cyrillic.bytes),
    text: cyrillic.text,
  },
  "no other parameter that ends in charset": {
    type: "text/html; x-charset=iso-8859-1; charset=utf-8",
    bytes: Buffer.from("größe"),
    text: "größe",
  },
};
