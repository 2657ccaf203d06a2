import { wordsOf } from "./channel-words.ts";

/** The sign of a channel's type, beside its name. */
export function ChannelMark({ type }: { type: string }) {
  return (
    <span className="channel-mark" aria-hidden="true">
      {wordsOf(type).mark}
    </span>
  );
}
