/**
 * A script that connects to each of these loopback ports in every way a page can, and over UDP to
 * the last one. The element `#tried` reports when all attempts have ended. The page needs
 * `/away?port=…`, which redirects to the port, `/worker.js`, which contains `serviceWorker`, and
 * `/all-asked`, which responds once the allowed port has all requests of `expectedAttempts`.
 */
export const buildWaysOut = (ports: readonly number[], udpPort: number) => `
const tried = [];
const settled = (start) => new Promise((done) => { setTimeout(done, 3_000); start(done); });
const worker = (send, at) => \`fetch("\${at("worker")}").catch(() => {}).finally(() => {
  const socket = new WebSocket("\${at("worker-socket").replace("http", "ws")}");
  socket.onerror = socket.onclose = () => {
    try { importScripts("\${at("worker-script")}"); } catch {}
    \${send};
  };
})\`;
for (const port of ${JSON.stringify(ports)}) {
  const at = (name) => "http://127.0.0.1:" + port + "/" + name;
  const add = (tag, fields) => tried.push(settled((done) => {
    const element = document.createElement(tag);
    document.body.append(Object.assign(element, fields, { onload: done, onerror: done }));
  }));
  const link = (rel, name, more = {}) => add("link", { rel, href: at(name), ...more });
  for (const name of ["img", "script", "iframe", "embed", "video", "audio"])
    add(name, { src: at(name) });
  add("object", { data: at("object") });
  add("img", { src: "/away?port=" + port });
  link("stylesheet", "style");
  link("preconnect", "");
  link("prefetch", "prefetch");
  link("preload", "preload", { as: "script" });
  link("modulepreload", "module");
  add("link", { rel: "dns-prefetch", href: "//prefetched.example" });
  tried.push(fetch(at("fetch")).catch(() => {}));
  tried.push(new FontFace("x", "url(" + at("font") + ")").load().catch(() => {}));
  navigator.sendBeacon(at("beacon"), "x");
  tried.push(settled((done) => (new EventSource(at("events")).onerror = done)));
  tried.push(settled((done) => (new WebSocket(at("socket").replace("http", "ws")).onclose = done)));
  tried.push(settled((done) => {
    const url = URL.createObjectURL(new Blob([worker("postMessage(1)", at)]));
    new Worker(url).onmessage = done;
  }));
  tried.push(settled((done) => {
    const text = worker("port.postMessage(1)", (name) => at("shared-" + name));
    const url = "data:text/javascript," + encodeURIComponent("onconnect = ({ ports: [port] }) => " + text);
    new SharedWorker(url).port.onmessage = done;
  }));
  if (window.WebTransport)
    tried.push(new WebTransport("https://127.0.0.1:${udpPort}/").ready.catch(() => {}));
  tried.push(settled((done) => {
    const urls = ["turn:127.0.0.1:" + port + "?transport=tcp", "turn:127.0.0.1:${udpPort}"];
    const turn = { urls, username: "a", credential: "b" };
    const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${udpPort}" }, turn] });
    peer.createDataChannel("x");
    peer.onicecandidate = ({ candidate }) => candidate === null && done();
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  }));
}
tried.push(navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready));
tried.push(fetch("/all-asked"));
Promise.all(tried).then(() => (document.querySelector("#tried").textContent = "All was tried"));
`;

export const buildServiceWorker = (ports: readonly number[]) =>
  ports.map((port) => `fetch("http://127.0.0.1:${port}/service-worker").catch(() => {});`).join("");

/** Expected requests at the allowed port. */
export const expectedAttempts =
  "audio away beacon embed events fetch font iframe img module object prefetch preload script service-worker shared-worker shared-worker-script shared-worker-socket socket style turn video worker worker-script worker-socket".split(
    " ",
  );
