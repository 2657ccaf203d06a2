/**
 * Unusual and hostile HTTP responses: framings of any body, charsets of any text, and responses
 * that no client may accept.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { buildMessageHead } from "./response-reader.ts";

type Framing = (body: Buffer) => Buffer;

const encodeLatin = (text: string) => Buffer.from(text, "latin1");
const joinBytes = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? encodeLatin(part) : part)));

const ok = "HTTP/1.1 200 OK";
const buildLengthField = (body: Buffer) => `Content-Length: ${body.length}`;
const frameWithLength =
  (...fields: string[]): Framing =>
  (body) =>
    joinBytes(buildMessageHead(ok, ...fields, buildLengthField(body)), body);
const frameCoded =
  (coding: string, ...encode: ((body: Buffer) => Buffer)[]): Framing =>
  (body) =>
    frameWithLength(`Content-Encoding: ${coding}`)(encode.reduce((bytes, one) => one(bytes), body));
const splitIntoChunks = (body: Buffer, size = 7) => {
  const parts: (string | Buffer)[] = [];
  for (let from = 0; from < body.length; from += size) {
    const piece = body.subarray(from, from + size);
    parts.push(`${piece.length.toString(16)}\r\n`, piece, "\r\n");
  }
  return joinBytes(...parts, "0\r\n\r\n");
};
const frameChunked =
  (...fields: string[]): Framing =>
  (body) =>
    joinBytes(buildMessageHead(ok, "Transfer-Encoding: chunked", ...fields), splitIntoChunks(body));

/** Framings that ordinary clients read, each as the same body with status 200. */
export const framings: Readonly<Record<string, Framing>> = {
  "with its length": frameWithLength(),
  "in chunks": frameChunked(),
  "in chunks, said twice": frameChunked("Transfer-Encoding: chunked"),
  "until the connection ends": (body) => joinBytes(buildMessageHead(ok), body),
  "of HTTP/1.0": (body) => joinBytes(buildMessageHead("HTTP/1.0 200 OK"), body),
  "without a reason": (body) =>
    joinBytes(buildMessageHead("HTTP/1.1 200", buildLengthField(body)), body),
  "of a later HTTP/1": (body) =>
    joinBytes(buildMessageHead("HTTP/1.2 200 OK", buildLengthField(body)), body),
  "of a radio server": (body) => joinBytes(buildMessageHead("ICY 200 OK", "icy-br: 128"), body),
  "with two spaces before the status": (body) =>
    joinBytes(buildMessageHead("HTTP/1.1  200 OK", buildLengthField(body)), body),
  "with a space before a colon": (body) =>
    joinBytes(buildMessageHead(ok, buildLengthField(body).replace(":", " :")), body),
  "with lines that are no fields": frameWithLength(
    "Warning! Undefined index",
    " continued: no",
    ": nameless",
    "a b: c",
  ),
  "in chunks with lines of LF": (body) =>
    joinBytes(
      buildMessageHead(ok, "Transfer-Encoding: chunked"),
      `${body.length.toString(16)}\n`,
      body,
      "\n0\n\n",
    ),
  "with a folded field": frameWithLength("X-Long: first\r\n second\r\n\tthird"),
  "with a folded Content-Type": frameWithLength("Content-Type: text/plain;\r\n charset=utf-8"),
  "with a folded Set-Cookie": frameWithLength("Set-Cookie: a=b;\r\n Path=/"),
  "with a fold of blanks": frameWithLength("X-Long: first\r\n  \r\n second"),
  "with lines of LF": (body) => joinBytes(`${ok}\nA: b\n${buildLengthField(body)}\n\n`, body),
  "with fields of LF and an empty line of CRLF": (body) =>
    joinBytes(`${ok}\r\nA: b\n${buildLengthField(body)}\n\r\n`, body),
  "with a field of CRLF and an empty line of LF": (body) =>
    joinBytes(`${ok}\nA: b\r\n${buildLengthField(body)}\r\n\n`, body),
  "after 100 and 103": (body) =>
    joinBytes(
      buildMessageHead("HTTP/1.1 100 Continue"),
      buildMessageHead("HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload"),
      frameWithLength()(body),
    ),
  "with Transfer-Encoding: identity": frameWithLength("Transfer-Encoding: identity"),
  "with Transfer-Encoding: identity and no length": (body) =>
    joinBytes(buildMessageHead(ok, "Transfer-Encoding: identity"), body),
  "with chunks of identity": (body) =>
    joinBytes(buildMessageHead(ok, "Transfer-Encoding: identity, chunked"), splitIntoChunks(body)),
  "with an empty element in its transfer codings": (body) =>
    joinBytes(buildMessageHead(ok, "Transfer-Encoding: , chunked,"), splitIntoChunks(body)),
  "in compressed chunks": (body) =>
    joinBytes(
      buildMessageHead(ok, "Transfer-Encoding: gzip, chunked"),
      splitIntoChunks(gzipSync(body)),
    ),
  "compressed until the connection ends": (body) =>
    joinBytes(buildMessageHead(ok, "Transfer-Encoding: x-gzip"), gzipSync(body)),
  "coded as content, then for the transfer": (body) =>
    joinBytes(
      buildMessageHead(ok, "Content-Encoding: br", "Transfer-Encoding: deflate, chunked"),
      splitIntoChunks(deflateSync(brotliCompressSync(body))),
    ),
  "in gzip": frameCoded("gzip", gzipSync),
  "in gzip of two members": (body) =>
    frameCoded("gzip")(joinBytes(gzipSync(body.subarray(0, 3)), gzipSync(body.subarray(3)))),
  "in deflate": frameCoded("deflate", deflateSync),
  "in deflate without compression": frameCoded("deflate", (body) =>
    deflateSync(body, { level: 0 }),
  ),
  "in bare deflate": frameCoded("deflate", deflateRawSync),
  "in bare deflate without compression": frameCoded("deflate", (body) =>
    deflateRawSync(body, { level: 0 }),
  ),
  "in gzip within gzip": frameCoded("gzip, gzip", gzipSync, gzipSync),
  "in deflate within gzip": frameCoded("deflate, gzip", deflateSync, gzipSync),
  "in bare deflate within br": frameCoded("deflate,br", deflateRawSync, brotliCompressSync),
  "in codings of two fields": (body) =>
    frameWithLength(
      "Content-Encoding: gzip",
      "Content-Encoding: br",
    )(brotliCompressSync(gzipSync(body))),
  "in gzip, after identity": frameCoded("identity, gzip", gzipSync),
  "in gzip, before an empty element": frameCoded("gzip,", gzipSync),
  "in a coding called none": frameCoded("none"),
  "in a coding called utf-8": frameCoded("UTF-8"),
  "in a coding called aws-chunked": frameCoded("aws-chunked"),
};

/** Responses that no client may accept, each with the expected message. */
export const refusedFramings: Readonly<Record<string, [Framing, words: string]>> = {
  "with two lengths": [
    (body) => joinBytes(buildMessageHead(ok, buildLengthField(body), "Content-Length: 1"), body),
    "The response is not valid HTTP.",
  ],
  "with a field before the first": [
    (body) => joinBytes(`${ok}\r\n folded: x\r\n${buildLengthField(body)}\r\n\r\n`, body),
    "The response is not valid HTTP.",
  ],
  "with a NUL in a fold": [frameWithLength("A: b\r\n c\0d"), "The response is not valid HTTP."],
  "with a coding over its chunks": [
    (body) =>
      joinBytes(
        buildMessageHead(ok, "Transfer-Encoding: chunked, gzip"),
        gzipSync(splitIntoChunks(body)),
      ),
    "The response is not valid HTTP.",
  ],
  "in a coding that was not requested": [
    frameCoded("zstd"),
    "The response body has the encoding zstd, which is not supported.",
  ],
  "in an unknown transfer coding": [
    (body) =>
      joinBytes(
        buildMessageHead(ok, "Transfer-Encoding: compress, chunked"),
        splitIntoChunks(body),
      ),
    "The response body has the encoding compress, which is not supported.",
  ],
  "in five codings": [
    frameCoded(Array(5).fill("gzip").join(", "), ...Array(5).fill(gzipSync)),
    "The response body is encoded more than 4 times.",
  ],
  "in a coding that it does not have": [
    frameCoded("gzip"),
    "The compressed response body is corrupt.",
  ],
  "in a coding that it has only once": [
    frameCoded("gzip, gzip", gzipSync),
    "The compressed response body is corrupt.",
  ],
  "cut within its length": [
    (body) => joinBytes(buildMessageHead(ok, `Content-Length: ${body.length + 1}`), body),
    "The connection was closed before the response was complete.",
  ],
  "cut within its chunks": [
    (body) => frameChunked()(body).subarray(0, -3),
    "The connection was closed before the response was complete.",
  ],
};

type Charset = { type: string; bytes: Buffer; text: string };

const parseHex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const buildHtml = (before: string, bytes: Buffer) => joinBytes(`${before}<p>`, bytes, "</p>");
const encodeUtf16 = (text: string) => Buffer.from(text, "utf16le");
const encodeUtf16Big = (text: string) => encodeUtf16(text).swap16();
const cyrillic = { bytes: parseHex("ce f8 e8 e1 ea e0"), text: "Ошибка" };

/** Texts in the charsets of the Encoding standard, declared by BOM, Content-Type or the document. */
export const charsets: Readonly<Record<string, Charset>> = {
  "windows-1251": { type: "text/html; charset=windows-1251", ...cyrillic },
  "cp1251, in quotes": { type: 'text/html; CHARSET="cp1251"', ...cyrillic },
  "koi8-r": { type: "text/plain; charset=KOI8-R", bytes: parseHex("efdbc9c2cbc1"), text: "Ошибка" },
  shift_jis: { type: "text/html; charset=Shift_JIS", bytes: parseHex("93fa967b"), text: "日本" },
  "euc-jp": { type: "text/html; charset=euc-jp", bytes: parseHex("c6fccbdc"), text: "日本" },
  "euc-kr": { type: "text/html; charset=euc-kr", bytes: parseHex("c7d1b1b9"), text: "한국" },
  big5: { type: "text/html; charset=big5", bytes: parseHex("a440a4a4"), text: "一中" },
  "iso-8859-2": { type: "text/html; charset=iso-8859-2", bytes: parseHex("b1"), text: "ą" },
  "iso-8859-15": { type: "text/html; charset=iso-8859-15", bytes: parseHex("a4"), text: "€" },
  "latin1 as a label of windows-1252": {
    type: "text/html; charset=cp1252",
    bytes: parseHex("80"),
    text: "€",
  },
  "us-ascii": { type: "text/html; charset=us-ascii", bytes: parseHex("e4"), text: "ä" },
  "utf-16 by its mark": {
    type: "text/plain",
    bytes: joinBytes(parseHex("fffe"), encodeUtf16("größe")),
    text: "größe",
  },
  "utf-16be by its mark, despite another type": {
    type: "text/plain; charset=utf-8",
    bytes: joinBytes(parseHex("feff"), encodeUtf16Big("plain")),
    text: "plain",
  },
  "utf-16be by its type": {
    type: "text/plain; charset=utf-16be",
    bytes: encodeUtf16Big("日本"),
    text: "日本",
  },
  "gbk by its meta": {
    type: "text/html",
    bytes: buildHtml('<!doctype html><META CHARSET="gbk">', parseHex("c4e3bac3")),
    text: "你好",
  },
  "windows-1251 by an old meta": {
    type: "text/html",
    bytes: buildHtml(
      '<meta http-equiv=content-type content="text/html; charset=windows-1251">',
      cyrillic.bytes,
    ),
    text: cyrillic.text,
  },
  "windows-1251 by a meta after one that speaks of charsets": {
    type: "text/html",
    bytes: buildHtml(
      '<meta name="about" content="a > b; charset=koi8-r"><meta/charset=windows-1251/>',
      cyrillic.bytes,
    ),
    text: cyrillic.text,
  },
  "iso-8859-1 by its meta": {
    type: "text/html",
    bytes: buildHtml("<meta charset='iso-8859-1'>", encodeLatin("größe")),
    text: "größe",
  },
  "no meta in a comment": {
    type: "text/html",
    bytes: buildHtml("<!-- <meta charset=windows-1251> -->", Buffer.from("größe")),
    text: "größe",
  },
  "utf-8 where a meta says utf-16": {
    type: "text/html",
    bytes: buildHtml("<meta charset=utf-16>", Buffer.from("größe")),
    text: "größe",
  },
  "iso-8859-2 by an XML declaration": {
    type: "application/xml",
    bytes: buildHtml('<?xml version="1.0" encoding="ISO-8859-2"?>', parseHex("b1")),
    text: "ą",
  },
  "the type before the meta": {
    type: "text/html; charset=utf-8",
    bytes: buildHtml("<meta charset=windows-1251>", Buffer.from("größe")),
    text: "größe",
  },
  "the meta where the type's label is unknown": {
    type: "text/html; charset=x-none",
    bytes: buildHtml("<meta charset=windows-1251>", cyrillic.bytes),
    text: cyrillic.text,
  },
  "no other parameter that ends in charset": {
    type: "text/html; x-charset=iso-8859-1; charset=utf-8",
    bytes: Buffer.from("größe"),
    text: "größe",
  },
};
