import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";

const packetTypes = { preLogin: 0x12, answer: 0x04 };

/** Pre-login message with the options version and encryption, whose data is zero (MS-TDS §2.2.6.5). */
const preLogin = Buffer.concat([
  Buffer.from([packetTypes.preLogin, 1, 0, 26, 0, 0, 1, 0]),
  Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff]),
  Buffer.alloc(7),
]);

/** Reads the version as major.minor.build; null if the field is too short. */
function parseVersion(options: Buffer): string | null {
  const [at, length] = [options.readUInt16BE(1), options.readUInt16BE(3)];
  if (length < 4) return null;
  return `${options[at]}.${options[at + 1]}.${options.readUInt16BE(at + 2)}`;
}

/** Up when the server responds to the pre-login, which needs no credentials. */
export const checkMssql: CheckKind<"mssql"> = (settings, context) =>
  converse(
    settings,
    context,
    async (wire) => {
      wire.write(preLogin);
      const head = await wire.read(8);
      const length = head.readUInt16BE(2) - head.length;
      if (head[0] !== packetTypes.answer || length < 12)
        throw new TargetFailure("The response is not valid for SQL Server.");
      const options = await wire.read(length);
      // The first option is the version. Its data can have any offset within the response.
      if (options[0] !== 0 || options.readUInt16BE(1) + options.readUInt16BE(3) > length)
        throw new TargetFailure("The response is not valid for SQL Server.");
      return { words: "Answered the pre-login", details: { version: parseVersion(options) } };
    },
    { maxBytes: 4_096 },
  );
