type Start = { port: MessagePort; flag: Int32Array };
type Asked = { url: string; body: string | null };

onmessage = ({ data: { port, flag } }: MessageEvent<Start>) => {
  port.onmessage = async ({ data: { url, body } }: MessageEvent<Asked>) => {
    try {
      const response = await fetch(url, body === null ? {} : { method: "POST", body });
      port.postMessage(
        body === null ? { bytes: await response.bytes() } : { text: await response.text() },
      );
    } catch (error) {
      port.postMessage({ error: String(error) });
    }
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
};
