/** The Kafka check: requests the metadata of a cluster and the leaders of a topic, with an optional login. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import { refusedLoginError, createScram } from "../protocols/scram.ts";

type Settings = Parameters<CheckKind<"kafka">>[0];

/** API keys and versions that every broker from 1.0 to 4.x supports. https://kafka.apache.org/protocol */
const api = {
  metadata: { key: 3, version: 4 },
  saslHandshake: { key: 17, version: 1 },
  saslAuthenticate: { key: 36, version: 0 },
};

const errorCodes = { unknownTopic: 3, topicDenied: 29, unsupportedMechanism: 33, refused: 58 };
const maxBytes = 1024 * 1024;
const notKafkaError = () => new TargetFailure("The response is not valid for Kafka.");

/** Up when a broker returns the cluster's metadata. If a topic is set, all of its partitions need a leader. */
export const checkKafka: CheckKind<"kafka"> = (settings, context) =>
  converse(
    settings,
    context,
    async (wire) => {
      const { username, topic } = settings;
      if (username !== null) await signIn(wire, username, settings);
      const topics = topic === null ? [encodeInt(0, 4)] : [encodeInt(1, 4), encodeText(topic)];
      const response = await sendRequest(wire, api.metadata, ...topics, Buffer.from([0]));
      response.number(4);
      const brokers = response.number(4);
      if (brokers < 1 || brokers > 10_000) throw notKafkaError();
      for (let index = 0; index < brokers; index++) {
        response.number(4);
        response.text();
        response.number(4);
        response.text();
      }
      response.text();
      response.number(4);
      if (topic !== null) assertHasLeaders(response);
      const words = `Returned the metadata of ${brokers === 1 ? "1 broker" : `${brokers} brokers`}`;
      return { words, details: { brokers } };
    },
    { maxBytes },
  );

function assertHasLeaders(response: ResponseReader) {
  if (response.number(4) !== 1) throw notKafkaError();
  const error = response.number(2);
  if (error === errorCodes.unknownTopic) throw new TargetFailure("The topic does not exist.");
  if (error === errorCodes.topicDenied)
    throw new TargetFailure("The user is not authorized for the topic.");
  response.text();
  response.number(1);
  const partitions = response.number(4);
  let lost = 0;
  for (let index = 0; index < partitions; index++) {
    response.number(2);
    response.number(4);
    if (response.number(4) < 0) lost++;
    for (const _list of ["replicas", "in sync"]) response.skip(response.number(4) * 4);
  }
  if (error !== 0 || partitions === 0) throw new TargetFailure("The topic has no leader.");
  if (lost > 0)
    throw new TargetFailure(`${lost} of ${partitions} partitions of the topic have no leader.`);
}

async function signIn(wire: Wire, username: string, { password, mechanism }: Settings) {
  const name = mechanism === "plain" ? "PLAIN" : `SCRAM-SHA-${mechanism.slice(-3)}`;
  const handshake = await sendRequest(wire, api.saslHandshake, encodeText(name));
  if (handshake.number(2) !== 0) throw new TargetFailure(`The server does not sign in by ${name}.`);
  const sendStep = async (message: string) => {
    const bytes = Buffer.from(message);
    const response = await sendRequest(
      wire,
      api.saslAuthenticate,
      encodeInt(bytes.length, 4),
      bytes,
    );
    const error = response.number(2);
    if (error === errorCodes.refused) throw refusedLoginError();
    if (error !== 0) throw new TargetFailure("The server responded with an error.");
    response.text();
    return response.bytes(response.number(4)).toString();
  };
  if (mechanism === "plain") return void (await sendStep(`\0${username}\0${password ?? ""}`));
  const login = createScram(
    mechanism === "scram-sha-256" ? "sha256" : "sha512",
    username,
    password ?? "",
    "raw",
  );
  login.assertServerKnows(await sendStep(await login.final(await sendStep(login.first))));
}

function encodeInt(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
}

const encodeText = (value: string) =>
  Buffer.concat([encodeInt(Buffer.byteLength(value), 2), Buffer.from(value)]);

let correlation = 0;

async function sendRequest(
  wire: Wire,
  { key, version }: { key: number; version: number },
  ...parts: Buffer[]
) {
  const id = (correlation = (correlation + 1) & 0x7fff_ffff);
  const request = Buffer.concat([
    encodeInt(key, 2),
    encodeInt(version, 2),
    encodeInt(id, 4),
    encodeText("signalbox"),
    ...parts,
  ]);
  wire.write(Buffer.concat([encodeInt(request.length, 4), request]));
  const length = (await wire.read(4)).readInt32BE();
  if (length < 4) throw notKafkaError();
  const bytes = await wire.read(length);
  if (bytes.readInt32BE() !== id) throw notKafkaError();
  return createResponseReader(bytes.subarray(4));
}

type ResponseReader = ReturnType<typeof createResponseReader>;

/** Reads the fields of a response in order. Throws TargetFailure for a truncated response. */
function createResponseReader(whole: Buffer) {
  let at = 0;
  function readBytes(count: number): Buffer {
    if (count < 0 || at + count > whole.length) throw notKafkaError();
    at += count;
    return whole.subarray(at - count, at);
  }
  const readNumber = (size: number) => readBytes(size).readIntBE(0, size);
  return {
    bytes: readBytes,
    number: readNumber,
    skip: (count: number) => void readBytes(count),
    /** Reads a string; null if the field is absent. */
    text() {
      const length = readNumber(2);
      return length < 0 ? null : readBytes(length).toString();
    },
  };
}
