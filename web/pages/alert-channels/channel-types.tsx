/** Names, icons and the gallery of channel types. */
import { useId } from "react";
import { markOf } from "./channel-marks.ts";
import {
  channelFamilies,
  channelKinds,
  type ChannelType,
  receiverKinds,
  type ReceiverType,
} from "../../../src/alerting/channels/kinds-schema.ts";

/** Display name of a channel type. Types that this page does not know show their technical name. */
export const describeChannelType = (type: string): { name: string } =>
  type in receiverKinds ? receiverKinds[type as ReceiverType] : { name: type };

/** Icon of a channel type, shown next to the name. */
export function ChannelMark({ type }: { type: string }) {
  return (
    <span className="channel-mark" aria-hidden="true">
      <svg
        width={17}
        height={17}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        <path d={markOf(type)} />
      </svg>
    </span>
  );
}

/** Gallery of all channel types by family, to choose one for a new channel. */
export function ChannelGallery({ onChoose }: { onChoose: (type: ChannelType) => void }) {
  const id = useId();
  return (
    <div className="gallery-families">
      {channelFamilies.map(({ name, types }, family) => (
        <section key={name} aria-labelledby={`${id}-${family}`}>
          <h3 id={`${id}-${family}`}>{name}</h3>
          <ul className="gallery">
            {types.map((type, index) => (
              <li key={type}>
                <button
                  type="button"
                  {...(family + index === 0 && { "data-autofocus": true })}
                  onClick={() => onChoose(type)}
                >
                  <ChannelMark type={type} />
                  <span>
                    <b>{channelKinds[type].name}</b>
                    <small>{channelKinds[type].summary}</small>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
