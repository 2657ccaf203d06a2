import { overHttp, type Provider } from "../provider.ts";

export const ntfy: Provider<"ntfy"> = overHttp({
  request: () => ({ url: "http://127.0.0.1:1/", body: {} }),
});
