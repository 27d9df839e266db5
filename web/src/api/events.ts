// Reads server-sent events from a response. EventSource cannot send a key, so the console reads them itself.

export interface ServerEvent {
  event: string;
  data: string;
}

export class EventParser {
  private rest = "";

  // Returns the events that are complete with this text.
  feed(text: string): ServerEvent[] {
    this.rest += text.replaceAll("\r\n", "\n");
    const events: ServerEvent[] = [];
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const event = parse(this.rest.slice(0, end));
      this.rest = this.rest.slice(end + 2);
      if (event) events.push(event);
    }
    return events;
  }
}

function parse(block: string): ServerEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue; // a comment
    const value = line.slice(colon + 1).replace(/^ /, "");
    const name = line.slice(0, colon);
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return data.length > 0 ? { event, data: data.join("\n") } : null;
}

// Calls `take` with the events of each piece that arrives; returns at the end of the response.
export async function readEvents(response: Response, take: (events: ServerEvent[]) => void): Promise<void> {
  if (!response.body) return;
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = parser.feed(decoder.decode(value, { stream: true }));
    if (events.length > 0) take(events);
  }
}
