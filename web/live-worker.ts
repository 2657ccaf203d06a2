/** Shared worker of all tabs of the admin page. It holds their live streams. */
import { openEventSource, SharedStreams, type StreamRequest } from "./data/shared-streams.ts";

const streams = new SharedStreams(openEventSource);

addEventListener("connect", (event) => {
  const [tab] = (event as MessageEvent).ports;
  if (tab === undefined) return;
  tab.addEventListener("message", ({ data }: MessageEvent<StreamRequest>) =>
    streams.handle(tab, data, Date.now()),
  );
  tab.start();
});
