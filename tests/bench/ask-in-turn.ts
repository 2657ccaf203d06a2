// Requests a URL every 10 ms until its standard input ends; prints each latency in ms. A separate
// process, so that the load generator does not delay the measurement.
const [url = "", key] = process.argv.slice(2);
const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
let isEnded = false;
void Bun.stdin.text().then(() => (isEnded = true));
const latencies: number[] = [];
while (!isEnded) {
  const askedAt = performance.now();
  const answered = await fetch(url, { headers });
  await answered.text();
  if (!answered.ok) throw new Error(`${url} was answered with ${answered.status}`);
  latencies.push(performance.now() - askedAt);
  await Bun.sleep(10);
}
console.log(JSON.stringify(latencies));
export {};
