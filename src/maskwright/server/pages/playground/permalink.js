// The state of the page in the part of the address after `#`, which no browser sends to a server.

/** The fragment for a state. */
export async function encode(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  if (typeof CompressionStream === "undefined") return `0${base64(bytes)}`;
  return `1${base64(await through(bytes, new CompressionStream("deflate-raw")))}`;
}

/** The state that a fragment holds; null for none, or for one that can't be read. */
export async function decode(fragment) {
  const text = fragment.replace(/^#/, "");
  try {
    let bytes = Uint8Array.from(atob(text.slice(1).replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    if (text[0] === "1") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
    else if (text[0] !== "0") return null;
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return typeof state === "object" ? state : null;
  } catch {
    return null;
  }
}

function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function through(bytes, stream) {
  const answer = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await answer.arrayBuffer());
}
