// A WebSocket that comes back: random delays that grow, and a ping that finds dead connections and measures lag.
// `failed` is told of each attempt that came to nothing.

export interface Line {
  readonly status: 'connecting' | 'open' | 'lost';
  readonly lag: number | null;
  send(message: unknown): void;
  close(): void;
}

const PING_MS = 5_000;
const FIRST_MS = 300;
const LONGEST_MS = 5_000;

export function connect<M extends { type: string }>(
  path: string,
  opened: () => void,
  received: (message: M) => void,
  failed: () => void = () => {},
): Line {
  const line = $state({ status: 'connecting' as Line['status'], lag: null as number | null });
  let socket: WebSocket | null = null;
  let retry: number | undefined;
  let pinger: number | undefined;
  let delay = FIRST_MS;
  let pending: number | null = null;
  let closed = false;

  function open(): void {
    clearTimeout(retry);
    const here = new WebSocket(new URL(path, location.href.replace(/^http/, 'ws')));
    socket = here;
    here.onopen = () => {
      delay = FIRST_MS;
      pending = null;
      line.status = 'open';
      clearInterval(pinger);
      pinger = window.setInterval(ping, PING_MS);
      opened();
      ping();
    };
    here.onmessage = (event) => {
      const message = JSON.parse(event.data) as M & { ping?: number };
      if (message.type !== 'pong') received(message);
      else if (message.ping === pending) {
        line.lag = Math.round(performance.now() - pending!);
        pending = null;
      }
    };
    let isOpen = false;
    here.addEventListener('open', () => (isOpen = true));
    here.onclose = () => {
      if (socket !== here) return;
      if (!isOpen) failed();
      lost();
    };
  }

  function ping(): void {
    if (pending !== null) return lost();
    pending = Math.round(performance.now());
    send({ ping: pending });
  }

  function lost(): void {
    clearInterval(pinger);
    const old = socket;
    socket = null;
    old?.close();
    if (closed) return;
    line.status = 'lost';
    line.lag = null;
    retry = window.setTimeout(open, delay * (0.5 + Math.random() / 2));
    delay = Math.min(delay * 2, LONGEST_MS);
  }

  function send(message: unknown): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  const atOnce = () => {
    if (line.status === 'lost' && !closed) open();
  };
  addEventListener('online', atOnce);
  open();

  return {
    get status() {
      return line.status;
    },
    get lag() {
      return line.lag;
    },
    send,
    close() {
      closed = true;
      removeEventListener('online', atOnce);
      clearTimeout(retry);
      lost();
    },
  };
}
