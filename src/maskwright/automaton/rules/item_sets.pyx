"""Item sets; see `item_sets.pyi`."""

cimport cython
from libc.stdint cimport int32_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memset

from collections import Counter

from maskwright.automaton.rules.nodes import RULE_END as _RULE_END
from maskwright.automaton.rules.nodes import RuleCall, TextSymbol
from maskwright.errors import Construct, LimitError
from maskwright.grammar.regular.terms cimport Regular
from maskwright.grammar.rules.tree import JsonValue
from maskwright.limits import CHEAP as _CHEAP
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef enum:
    SYMBOLIC_BELOW = 0
    SYMBOLIC_OUTERMOST = 1
    EMPTY_KERNEL = 2
    NO_RULE = -1

BELOW = SYMBOLIC_BELOW
OUTERMOST = SYMBOLIC_OUTERMOST
NO_ITEMS = EMPTY_KERNEL

cdef int32_t RULE_END = _RULE_END
cdef double CHEAP = _CHEAP
cdef double A_LOOK = CHEAP / 4  # at a position that is known, a tenth of a microsecond


@cython.final
@cython.no_gc
cdef class ReturnAddress:
    def __repr__(self):
        return f"ReturnAddress(rule={self.rule}, kernel={self.kernel})"


@cython.final
@cython.no_gc  # its lists are of numbers
cdef class Place:
    pass


@cython.final
@cython.no_gc  # a place and an address refer to nothing that refers to them
cdef class RulePosition:
    @property
    def node(self):
        return self.place.node

    @property
    def counters(self):
        return self.place.counters

    def __repr__(self):
        return f"RulePosition({self.node}, {self.counters}, {self.return_to})"


@cython.final
@cython.no_gc  # languages and schemas don't refer to items
cdef class Item:
    def __repr__(self):
        return f"Item({self.symbol}, {self.after})"


@cython.final
cdef class Closure:
    def __cinit__(self):
        self.texts, self.values, self.tokens, self.waiting = {}, {}, {}, {}


@cython.final
@cython.no_gc  # it refers to numbers
cdef class Successors:
    pass


@cython.final
cdef class Callers:
    pass


@cython.final
cdef class Marks:
    def __dealloc__(self):
        free(self.rounds)

    cdef int begin(self) except -1:
        """Begin a round, in which nothing has been met."""
        self.round += 1
        if self.round == 0x7FFFFFFF:
            memset(self.rounds, 0, self.size * sizeof(int32_t))
            self.round = 1
        return 0

    cdef int make_room(self, int32_t number) except -1:
        cdef int32_t size = max(64, 2 * self.size)
        cdef int32_t *rounds
        if number < self.size:
            return 0
        rounds = <int32_t *>realloc(self.rounds, size * sizeof(int32_t))
        if rounds == NULL:
            raise MemoryError
        memset(rounds + self.size, 0, (size - self.size) * sizeof(int32_t))
        self.rounds, self.size = rounds, size
        return 0

    cdef bint add(self, int32_t number) noexcept:
        """Mark a number, and return whether it is new in this round."""
        if self.rounds[number] == self.round:
            return False
        self.rounds[number] = self.round
        return True


cdef int _ascending(const void *one, const void *other) noexcept nogil:
    return (<const int32_t *>one)[0] - (<const int32_t *>other)[0]


cdef object _pair(int32_t high, int32_t low):
    """Two numbers as one, by which things are looked up."""
    return (<long long>high << 32) | low


@cython.final
cdef class ItemSets:
    def __cinit__(self):
        self.symbol_numbers, self.text_numbers, self.known_places = {}, {}, {}
        self.known_addresses, self.known_positions, self.known_items = {}, {}, {}
        self.symbols, self.places, self.positions, self.items = [], [], [], []
        self.following = []
        # The first two numbers are symbolic.
        self.kernels, self.closures = [(), (), ()], [None, None, None]
        self.known_kernels = {b"": EMPTY_KERNEL}
        self.resolved_kernels, self.known_callers, self.known_begun = {}, {}, {}
        self.met_positions, self.met_addresses, self.met_items = Marks(), Marks(), Marks()

    def __init__(self, network not None, limits not None, list follow=None):
        if follow is not None and len(follow) != len(network.nodes):
            raise ValueError(f"the bytes after {len(network.nodes)} nodes, not {len(follow)}")
        self.network, self.follow = network, follow
        self.most = limits.items
        self.starts = [self.place(start, ()) for start in network.starts]

    def __dealloc__(self):
        free(self.numbers)

    # What is made once

    cdef int32_t symbol_number(self, symbol) except -1:
        cdef dict known = self.symbol_numbers
        if type(symbol) is TextSymbol:
            symbol, known = symbol.term, self.text_numbers
        number = known.get(symbol)
        if number is None:
            number = known[symbol] = len(self.symbols)
            self.symbols.append(TextSymbol(symbol) if known is self.text_numbers else symbol)
        return number

    cdef Place place(self, node, counters):
        cdef tuple key = (node, counters)
        cdef Place found = self.known_places.get(key)
        if found is None:
            counted = self.network.innermost_count(node, counters)
            found = Place.__new__(Place)
            found.node, found.counters, found.number = node, counters, len(self.places)
            if counted is not None:
                least, found.count = counted
                found.may_leave = found.count >= least
                found.outer_counters = counters[: len(counters) - 1]
            self.places.append(found)
            self.known_places[key] = found
        return found

    cdef int find_symbols(self, Place place) except -1:
        """Find what can be read at a place."""
        cdef list symbols = [], places = []
        closure = self.network.closure(place.node, place.counters)
        for each in closure.transitions:
            symbols.append(self.symbol_number(each.symbol))
            places.append(self.place(each.next, each.counters).number)
        place.may_end = closure.may_end
        place.symbols, place.places = symbols, places
        return 0

    cdef ReturnAddress address_of(self, int32_t rule, int32_t kernel):
        key = _pair(kernel, rule)
        cdef ReturnAddress found = self.known_addresses.get(key)
        if found is None:
            found = ReturnAddress.__new__(ReturnAddress)
            found.rule, found.kernel, found.number = rule, kernel, len(self.known_addresses)
            self.met_addresses.make_room(found.number)
            self.known_addresses[key] = found
        return found

    def address(self, int32_t rule, int32_t kernel):
        if not 0 <= rule < len(self.starts):
            raise IndexError(f"there is no rule {rule}")
        return self.address_of(rule, self.check_kernel(kernel))

    cdef RulePosition position_at(self, Place place, ReturnAddress return_to):
        key = _pair(place.number, return_to.number)
        cdef RulePosition found = self.known_positions.get(key)
        if found is None:
            found = RulePosition.__new__(RulePosition)
            found.place, found.return_to, found.number = place, return_to, len(self.positions)
            self.met_positions.make_room(found.number)
            self.positions.append(found)
            self.following.append(None)
            self.known_positions[key] = found
        return found

    def position(self, int32_t node, tuple counters not None, ReturnAddress return_to not None):
        if not 0 <= node < len(self.network.nodes):
            raise IndexError(f"there is no node {node}")
        if self.known_addresses.get(_pair(return_to.kernel, return_to.rule)) is not return_to:
            raise ValueError("the return address is of other item sets")
        return self.position_at(self.place(node, counters), return_to)

    def start_position(self):
        start = self.network.start
        return self.position_at(self.starts[start], self.address_of(start, SYMBOLIC_OUTERMOST))

    cdef Item item_of(self, int32_t symbol, RulePosition after):
        key = _pair(symbol, after.number)
        cdef Item found = self.known_items.get(key)
        if found is None:
            found = Item.__new__(Item)
            found.symbol, found.after, found.number = self.symbols[symbol], after, len(self.items)
            found.symbol_number, found.called = symbol, NO_RULE
            if type(found.symbol) is RuleCall:
                found.called = found.symbol.rule
            self.met_items.make_room(found.number)
            self.items.append(found)
            self.known_items[key] = found
        return found

    def item(self, symbol, RulePosition after not None):
        return self.item_of(self.symbol_number(symbol), self.check_position(after))

    # Kernels

    cdef int32_t number_of(self, list items, bint limited) except -1:
        """The number of the kernel of some items, which may be in the list several times."""
        cdef Py_ssize_t at, count = 0
        cdef int32_t *found = self.make_room(len(items))
        for at in range(len(items)):
            found[at] = (<Item>items[at]).number
        qsort(found, len(items), sizeof(int32_t), _ascending)
        for at in range(len(items)):
            if count == 0 or found[at] != found[count - 1]:
                found[count] = found[at]
                count += 1
        cdef bytes key = (<const char *>found)[: count * sizeof(int32_t)]
        number = self.known_kernels.get(key)
        if number is None:
            if limited and count > self.most:
                raise LimitError(
                    f"a text of the grammar can be read in more than {self.most:,} ways",
                    limit="items",
                    value=self.most,
                    construct=self.rules_around(items),
                )
            number = self.known_kernels[key] = len(self.kernels)
            self.kernels.append(tuple([self.items[found[at]] for at in range(count)]))
            self.closures.append(None)
        return number

    cdef int32_t *make_room(self, Py_ssize_t count) except NULL:
        cdef int32_t *found
        if self.numbers == NULL or count > self.room:
            found = <int32_t *>realloc(self.numbers, max(64, 2 * count) * sizeof(int32_t))
            if found == NULL:
                raise MemoryError
            self.numbers, self.room = found, max(64, 2 * count)
        return self.numbers

    def kernel(self, items):
        cdef list listed = [self.check_item(item) for item in items]
        return self.number_of(listed, True)

    cdef Item check_item(self, Item item):
        if item is None or not item.number < len(self.items):
            raise ValueError("the item is of other item sets")
        if self.items[item.number] is not item:
            raise ValueError("the item is of other item sets")
        return item

    cdef RulePosition check_position(self, RulePosition position):
        if position is None or not position.number < len(self.positions):
            raise ValueError("the position is of other item sets")
        if self.positions[position.number] is not position:
            raise ValueError("the position is of other item sets")
        return position

    cdef int32_t check_kernel(self, int32_t kernel) except -1:
        if not 0 <= kernel < len(self.kernels):
            raise IndexError(f"there is no kernel {kernel}")
        return kernel

    def items_of(self, int32_t kernel):
        return self.kernels[self.check_kernel(kernel)]

    def rules_of(self, int32_t kernel):
        return self.rules_around(self.kernels[self.check_kernel(kernel)])

    cdef object rules_around(self, items):
        counts = Counter([(<Item>item).after.return_to.rule for item in items])
        return Construct.rules([self.network.names[rule] for rule, _ in counts.most_common(4)])

    # Where positions lead

    cdef list lead(self, RulePosition position):
        """The items with which a rule goes on at a position."""
        cdef Place place = position.place
        cdef list items = self.following[position.number]
        cdef Py_ssize_t at
        if items is not None:
            return items
        if place.symbols is None:
            self.find_symbols(place)
        spend(CHEAP * len(place.symbols))
        items = []
        for at in range(len(place.symbols)):
            after = self.position_at(self.places[place.places[at]], position.return_to)
            items.append(self.item_of(place.symbols[at], after))
        self.following[position.number] = items
        return items

    def begin(self, RulePosition position):
        return self.reach([self.check_position(position)], ())

    def advance(self, list read not None, list kept not None):
        cdef Item item
        for item in kept:
            self.check_item(item)
        return self.reach([self.check_item(item).after for item in read], kept)

    def after_texts(self, int32_t kernel, terms):
        cdef dict texts = self.close(self.check_kernel(kernel)).texts
        cdef list stack = []
        cdef Item item
        for term in terms:
            for item in texts[term]:
                stack.append(item.after)
        return self.reach(stack, ())

    def after_rules(self, int32_t frame, rules, int32_t kernel):
        cdef dict waiting = self.close(self.check_kernel(frame)).waiting
        cdef list stack = []
        cdef Item item
        for rule in rules:
            for item in waiting[rule]:
                stack.append(item.after)
        return self.reach(stack, self.kernels[self.resolved(kernel, frame)])

    cdef Successors reach(self, list stack, kept):
        """Where the positions on `stack` lead, beside items that are kept."""
        cdef list reached = []
        cdef set ended = set()
        cdef bint may_end = False
        cdef Item item
        cdef RulePosition position
        cdef ReturnAddress return_to
        self.met_positions.begin()
        self.met_addresses.begin()
        self.met_items.begin()
        for item in kept:
            if self.met_items.add(item.number):
                reached.append(item)
        while stack:
            position = <RulePosition>stack.pop()
            spend(A_LOOK)
            if not self.met_positions.add(position.number):
                continue
            for item in self.lead(position):
                if self.met_items.add(item.number):
                    reached.append(item)
            return_to = position.return_to
            if not position.place.may_end or not self.met_addresses.add(return_to.number):
                continue
            if return_to.kernel == SYMBOLIC_BELOW:
                ended.add(return_to.rule)
            elif return_to.kernel == SYMBOLIC_OUTERMOST:
                may_end = True
            else:
                for item in self.close(return_to.kernel).waiting[return_to.rule]:
                    stack.append(item.after)
        cdef Successors found = Successors.__new__(Successors)
        reached = self.undominated(reached)
        # What ends below is merged with the items of a frame before it is a kernel to go on from.
        found.kernel = self.number_of(reached, not ended)
        found.ended, found.may_end = frozenset(ended), may_end
        return found

    cdef list undominated(self, list items):
        """Items without those that differ from another in a higher count alone, where both loops
        may end."""
        cdef dict lowest = {}
        cdef list kept
        cdef Item item, other
        cdef Place place
        for item in items:
            if item.after.place.may_leave:
                break
        else:
            return items
        kept = []
        for item in items:
            place = item.after.place
            if not place.may_leave:
                kept.append(item)
                continue
            key = (item.symbol_number, place.node, place.outer_counters, item.after.return_to.number)
            other = lowest.get(key)
            if other is None or place.count < other.after.place.count:
                lowest[key] = item
        return kept + list(lowest.values())

    # Closures

    def closure(self, int32_t kernel):
        return self.close(self.check_kernel(kernel))

    cdef Closure close(self, int32_t kernel):
        cdef Closure closure = self.closures[kernel]
        cdef tuple items = self.kernels[kernel]
        cdef list begun
        cdef Item item
        cdef Py_ssize_t count = len(items)
        if closure is not None:
            return closure
        closure = Closure.__new__(Closure)
        for item in items:
            _note(closure, item)
        if closure.waiting:
            begun = self.begun_by(tuple([item for item in items if (<Item>item).called != NO_RULE]))
            for item in begun:
                _note(closure, item)
            count += len(begun)
        if count > self.most:
            raise LimitError(
                f"a text of the grammar can go on in more than {self.most:,} ways",
                limit="items",
                value=self.most,
                construct=self.rules_around(items),
            )
        if len(closure.texts) > 1:
            closure.texts = dict(sorted(closure.texts.items(), key=_number))
        if self.follow is not None:
            closure.ahead = tuple([self.bytes_after(each) for each in closure.texts.values()])
        self.closures[kernel] = closure
        return closure

    cdef object bytes_after(self, list items):
        """Which bytes may come after the symbols of some items."""
        cdef Item item
        found = 0
        for item in items:
            found = found | self.follow[item.after.place.node]
        return found

    cdef list begun_by(self, tuple calls):
        """The items with which the rules begin that some items call, directly or through others."""
        cdef list found = self.known_begun.get(calls)
        cdef Callers callers
        cdef dict returns
        if found is None:
            found = []
            callers = self.callers_of(frozenset([(<Item>item).called for item in calls]))
            returns = self.returns(calls, callers)
            for rule in callers.rules:
                found += self.lead(self.position_at(self.starts[rule], returns[rule]))
            self.known_begun[calls] = found
        return found

    cdef Callers callers_of(self, frozenset called):
        """Which rules are called where `called` are, and by whom."""
        cdef Callers found = self.known_callers.get(called)
        cdef Place start
        cdef Py_ssize_t at
        if found is not None:
            return found
        found = Callers.__new__(Callers)
        corners = self.network.left_corners
        found.rules = sorted(frozenset().union(*[corners[rule] for rule in called]))
        found.above = {rule: [] for rule in found.rules}
        found.below = {rule: [] for rule in found.rules}
        found.held = set()
        for rule in found.rules:
            start = self.starts[rule]
            if start.symbols is None:
                self.find_symbols(start)
            for at in range(len(start.symbols)):
                symbol = self.symbols[start.symbols[at]]
                if type(symbol) is not RuleCall:
                    continue
                if (<Place>self.places[start.places[at]]).node == RULE_END:
                    found.above[symbol.rule].append(rule)
                    found.below[rule].append(symbol.rule)
                else:
                    found.held.add(symbol.rule)
        self.known_callers[called] = found
        return found

    cdef dict returns(self, tuple calls, Callers callers):
        """The return addresses of the rules that some items call, directly or through others.

        If nothing follows a rule in its callers and these share one return address, it is that one
        (a tail call), so that right recursion does not pile up return addresses. Otherwise it is
        the address of the items that wait for the rule. Captures are followed along the items of
        the start rule, so with captures these wait in any case.
        """
        cdef dict direct = {}, found = {}
        cdef set own = set(callers.held)
        cdef list changed
        cdef Item item
        cdef ReturnAddress one
        captures = self.network.has_captures
        for item in calls:
            if item.after.place.node != RULE_END:
                own.add(item.called)
            elif captures and item.after.return_to.kernel == SYMBOLIC_OUTERMOST:
                own.add(item.called)
            else:
                direct.setdefault(item.called, set()).add(item.after.return_to)
        for rule in own:
            found[rule] = self.waiting_for(rule, calls)
        changed = callers.rules[::-1]
        while changed:
            rule = changed.pop()
            spend(CHEAP)
            if rule in own:
                continue
            shared, is_shared = None, True
            for address in direct.get(rule, ()):
                is_shared &= shared is None or shared is address
                shared = address
            for caller in callers.above[rule]:
                address = found.get(caller)
                if address is not None:
                    is_shared &= shared is None or shared is address
                    shared = address
            if not is_shared:
                own.add(rule)
                shared = self.waiting_for(rule, calls)
            if shared is not found.get(rule):
                found[rule] = shared
                changed += callers.below[rule]
        return found

    cdef ReturnAddress waiting_for(self, int32_t rule, tuple calls):
        """The address of the items among `calls` that call a rule, directly or through others."""
        cdef list corners = self.network.left_corners
        cdef list waiting = [item for item in calls if rule in corners[(<Item>item).called]]
        return self.address_of(rule, self.number_of(waiting, True))

    # Return frames

    cpdef int32_t resolved(self, int32_t kernel, int32_t frame) except -1:
        cdef list pending = [self.check_kernel(kernel)]
        cdef list missing
        cdef Item item
        self.check_kernel(frame)
        while pending:
            kernel = pending[len(pending) - 1]
            missing = []
            for item in self.kernels[kernel]:
                caller = item.after.return_to.kernel
                if caller > SYMBOLIC_OUTERMOST and _pair(caller, frame) not in self.resolved_kernels:
                    missing.append(caller)
            if missing:
                pending += missing
                continue
            pending.pop()
            key = _pair(kernel, frame)
            if key not in self.resolved_kernels:
                spend(CHEAP * len(self.kernels[kernel]))
                self.resolved_kernels[key] = self.resolve(kernel, frame)
        return self.resolved_kernels[_pair(kernel, frame)]

    cdef int32_t resolve(self, int32_t kernel, int32_t frame) except -1:
        """`resolved` for a kernel whose callers have been resolved."""
        cdef list items = []
        cdef Item item
        for item in self.kernels[kernel]:
            caller = item.after.return_to.kernel
            if caller == SYMBOLIC_BELOW:
                caller = frame
            elif caller != SYMBOLIC_OUTERMOST:
                caller = self.resolved_kernels[_pair(caller, frame)]
            items.append(self.returning(item, caller))
        return self.number_of(items, True)

    cdef Item returning(self, Item item, int32_t kernel):
        """An item with another kernel to return to."""
        cdef RulePosition after = item.after
        return_to = self.address_of(after.return_to.rule, kernel)
        return self.item_of(item.symbol_number, self.position_at(after.place, return_to))

    def split_frame(self, int32_t kernel):
        cdef tuple items = self.kernels[self.check_kernel(kernel)]
        cdef int32_t frame
        if not items:
            return None
        frame = (<Item>items[0]).after.return_to.kernel
        if frame <= SYMBOLIC_OUTERMOST:
            return None
        for item in items:
            if (<Item>item).after.return_to.kernel != frame:
                return None
        split = [self.returning(item, SYMBOLIC_BELOW) for item in items]
        return self.number_of(split, True), frame


def _number(entry):
    return (<Regular>entry[0]).number


cdef int _note(Closure closure, Item item) except -1:
    """Enter an item under its symbol."""
    cdef dict kind
    symbol = item.symbol
    if item.called != NO_RULE:
        kind, symbol = closure.waiting, item.called
    elif type(symbol) is TextSymbol:
        kind, symbol = closure.texts, symbol.term
    elif type(symbol) is JsonValue:
        kind = closure.values
    else:
        kind = closure.tokens
    listed = kind.get(symbol)
    if listed is None:
        kind[symbol] = [item]
    else:
        (<list>listed).append(item)
    return 0
