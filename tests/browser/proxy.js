// A proxy between the browser and the service that counts bytes sent, limits the rate, and can be cut.
import { connect, createServer } from "node:net";

export async function startProxy(port, bytesPerSecond) {
  const sockets = new Set();
  let sent = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => { sockets.delete(one); other.destroy(); });
    }
    upstream.pipe(client);
    client.on("data", (bytes) => {
      sent += bytes.length;
      upstream.write(bytes);
      client.pause();
      setTimeout(() => client.resume(), (bytes.length / bytesPerSecond) * 1000);
    });
  });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  const cut = () => { for (const socket of sockets) socket.destroy(); };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sent: () => sent,
    cut,
    close: () => { cut(); server.close(); },
  };
}
