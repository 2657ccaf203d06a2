import { overHttp, type Provider } from "../provider.ts";

export const gotify: Provider<"gotify"> = overHttp({
  request: () => ({ url: "http://127.0.0.1:1/", body: {} }),
});
