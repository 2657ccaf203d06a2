/** Keeps the screen on where the browser lets a page do so, which takes TLS or localhost. */
export function keepScreenAwake(): () => void {
  let lock: WakeLockSentinel | null = null;
  let over = false;
  async function ask() {
    if (document.hidden || over || !("wakeLock" in navigator)) return;
    try {
      lock = await navigator.wakeLock.request("screen");
      if (over) await lock.release();
    } catch {
      // The system wants to save power: nothing to be done from here.
    }
  }
  void ask();
  document.addEventListener("visibilitychange", ask);
  return () => {
    over = true;
    document.removeEventListener("visibilitychange", ask);
    void lock?.release();
  };
}
