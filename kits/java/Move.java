/** A move from one square to another. `promotion` is 'q', 'r', 'b', 'n', or 0 for other moves. */
record Move(int from, int to, char promotion) {
    /** The move in coordinates, such as e2e4 or e7e8q. */
    @Override
    public String toString() {
        return Board.name(from) + Board.name(to) + (promotion == 0 ? "" : promotion);
    }
}
