type Start = { port: MessagePort; flag: Int32Array };
type WorkerRequest = { id: number; url: string; body: string | null };

onmessage = ({ data: { port, flag } }: MessageEvent<Start>) => {
  port.onmessage = async ({ data: { id, url, body } }: MessageEvent<WorkerRequest>) => {
    try {
      const response = await fetch(url, body === null ? {} : { method: "POST", body });
      port.postMessage(
        body === null ? { id, bytes: await response.bytes() } : { id, text: await response.text() },
      );
    } catch (error) {
      port.postMessage({ id, error: String(error) });
    }
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
};
