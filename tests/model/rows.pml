/* The rows of shared memory that src/transport/node_rows.cpp keeps. N ranks make EXCHANGES exchanges. In each
 * exchange a rank has something for another rank or not; if STEADY, this is the same in all exchanges. Proves that a
 * reader finds the whole row of the exchange that the reader is in, and that nobody waits for ever. If MISTAKEN, a rank
 * may expect something where there is nothing. Then the model also proves that the rank is told so.
 * WRONG: a row is written again as soon as its turn comes (1), or keeps its number while it is written again (2). */
#ifndef N
#define N 2
#endif
#ifndef EXCHANGES
#define EXCHANGES 4
#endif
#ifndef WRONG
#define WRONG 0
#endif
#ifndef MISTAKEN
#define MISTAKEN 0
#endif

#define row(rank, exchange) ((rank) * 2 + (exchange) % 2)
#define block(rank, exchange, reader) (row(rank, exchange) * N + (reader))
#ifdef STEADY
#define something(from, to, exchange) sends[(from) * N + (to)]
#else
#define something(from, to, exchange) sends[((from) * N + (to)) * (EXCHANGES + 1) + (exchange)]
#endif

byte number[N * 2];                  /* the number of each row's exchange; 0 while the row is written */
byte blocks[N * 2 * N];              /* what lies in each block: the number of its exchange */
bool sizes[N * 2 * N];               /* whether there is something in each block */
byte sends[N * N * (EXCHANGES + 1)]; /* whether a rank has something for another: 0 undecided, 1 no, 2 yes */

inline decide(from, to) {
  if
  :: something(from, to, now) == 0 -> if :: something(from, to, now) = 1 :: something(from, to, now) = 2 fi
  :: else
  fi
}

/* node_rows::has_begun(): a reader does not know which of the two rows is the later one. */
inline wait_until_begun(rank, exchange) {
  do
  :: number[row(rank, 0)] >= exchange -> break
  :: number[row(rank, 1)] >= exchange -> break
  od
}

/* is_there() and block_from(): what the row says counts only if its number is still there afterwards. */
inline read_row() {
  number[row(peer, now)] >= now;
  is_something = sizes[block(peer, now, me)];
  is_something = is_something && number[row(peer, now)] == now;
  assert(is_something == (something(peer, me, now) == 2));
  if
  :: is_something ->
     assert(blocks[block(peer, now, me)] == now);
     assert(blocks[block(peer, now, me)] == now) /* and still is, when it has been copied */
  :: else
  fi
}

proctype rank(byte me) {
  byte now = 0, peer;
  bool is_something;
  do
  :: now == EXCHANGES -> break
  :: else ->
#if WRONG != 1
     peer = 0; /* awaited_reader(): waits for all that had something to read in the row that is replaced */
     do
     :: peer == N -> break
     :: else ->
        if
        :: peer != me && now > 0 && something(me, peer, now - 1) == 2 -> wait_until_begun(peer, now)
        :: else
        fi;
        peer++
     od;
#endif
     now++;
#if WRONG != 2
     number[row(me, now)] = 0; /* begin() */
#endif
     atomic { /* add(): all sizes in one step, because each has a reader of its own */
       peer = 0;
       do
       :: peer == N -> break
       :: peer == me -> peer++
       :: else ->
          decide(me, peer);
          sizes[block(me, now, peer)] = something(me, peer, now) == 2;
          peer++
       od
     }
     atomic { /* all blocks in one step, for the same reason */
       peer = 0;
       do
       :: peer == N -> break
       :: else ->
          if
          :: peer != me && something(me, peer, now) == 2 -> blocks[block(me, now, peer)] = now
          :: else
          fi;
          peer++
       od
     }
     number[row(me, now)] = now; /* publish() */
     peer = 0;
     do
     :: peer == N -> break
     :: else ->
        if
        :: peer != me ->
           atomic { decide(peer, me) }
           if
           :: something(peer, me, now) == 2 || MISTAKEN -> read_row()
           :: something(peer, me, now) == 1
           fi
        :: else
        fi;
        peer++
     od
  od
}

init {
  atomic {
    byte one = 0;
    do
    :: one == N -> break
    :: else -> run rank(one); one++
    od
  }
}
