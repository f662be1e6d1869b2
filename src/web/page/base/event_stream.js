// Server-sent events out of a fetch. EventSource would do, but it cannot send an API key.

// Yields the data of each event of `response`; ends when the stream does. Comments are passed over.
export async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value;
      let end = buffer.indexOf("\n\n");
      let begin = 0;
      while (end >= 0) {
        const data = dataOf(buffer.slice(begin, end));
        if (data !== null) yield data;
        begin = end + 2;
        end = buffer.indexOf("\n\n", begin);
      }
      buffer = buffer.slice(begin);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function dataOf(event) {
  const lines = event
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line[5] === " " ? 6 : 5));
  return lines.length > 0 ? lines.join("\n") : null;
}
