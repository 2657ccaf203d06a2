import type { ChannelType } from "../../../src/alerting/channels/schema.ts";
import { ChannelMark } from "./channel-mark.tsx";
import { channelTypes, channelWords } from "./channel-words.ts";

/** Every type of channel, to begin with one of them. */
export function ChannelGallery({ onChoose }: { onChoose: (type: ChannelType) => void }) {
  return (
    <ul className="gallery">
      {channelTypes.map((type, index) => (
        <li key={type}>
          <button
            type="button"
            {...(index === 0 && { "data-autofocus": true })}
            onClick={() => onChoose(type)}
          >
            <ChannelMark type={type} />
            <span>
              <b>{channelWords[type].label}</b>
              <small>{channelWords[type].what}</small>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
