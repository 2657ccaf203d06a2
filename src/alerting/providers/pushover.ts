import { overHttp, type Provider } from "../provider.ts";

export const pushover: Provider<"pushover"> = overHttp({
  request: () => ({ url: "http://127.0.0.1:1/", body: {} }),
});
