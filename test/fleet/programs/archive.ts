import { Context, readonly, tracked } from "headwater";

class Page extends Context<number> {
  text = "";
  changes = 0;
  readers = tracked.set<string>();

  write(text: string) {
    this.text = text;
    this.changes += 1;
    return this.changes;
  }

  read(reader: string) {
    this.readers.add(reader);
    return { bytes: this.text.length, changes: this.changes, readers: [...this.readers] };
  }

  @readonly host() {
    return process.pid;
  }
}

class Book extends Context<number> {
  pages = this.children(Page);
  written = 0;

  async writeAll(count: number, text: string) {
    for (let page = 0; page < count; page++) await this.pages(page).write(text);
    this.written += count;
    return this.written;
  }
}

/** Books with pages; what is in memory is up to the limit. */
export default class Archive extends Context {
  books = this.children(Book);

  /** Writes on a page of each book, wherever they are. */
  async writeOn(page: number, books: readonly number[], text: string) {
    this.downgrade();
    await Promise.all(books.map((book) => this.books(book).pages(page).write(text)));
  }
}
